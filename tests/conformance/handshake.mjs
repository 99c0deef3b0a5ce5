// The official TypeScript client of the handshake era against a server, a URL or a command: plays each verb and prints what became of it, as JSON.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    CreateMessageRequestSchema,
    ElicitRequestSchema,
    ListRootsRequestSchema,
    LoggingMessageNotificationSchema,
    PromptListChangedNotificationSchema,
    ResourceUpdatedNotificationSchema,
    ToolListChangedNotificationSchema
} from '@modelcontextprotocol/sdk/types.js';

const [target, ...rest] = process.argv.slice(2);
const transport = target.startsWith('http')
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args: rest, env: process.env });
const said = { logged: [], changed: [], updated: [], asked: [] };

const client = new Client(
    { name: 'handshake', version: '1' },
    { capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} } }
);
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    said.asked.push(params.message);
    return { action: 'accept', content: params.message.includes('color') ? { color: 'red' } : { name: 'Ann' } };
});
client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    role: 'assistant',
    model: 'none',
    content: { type: 'text', text: 'Good day' }
}));
client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: 'file:///home' }] }));
client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void said.logged.push(params.data));
client.setNotificationHandler(ToolListChangedNotificationSchema, () => void said.changed.push('tools'));
client.setNotificationHandler(PromptListChangedNotificationSchema, () => void said.changed.push('prompts'));
client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void said.updated.push(params.uri));
client.onerror = error => console.error(error);

const call = (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, undefined, options);
const text = result => result.content.map(block => block.text ?? block.type).join(' ');
const until = async met => {
    while (!(await met())) await new Promise(resolve => setTimeout(resolve, 20));
};

const verbs = {
    initialize: async () => ({
        version: transport.protocolVersion ?? said.version,
        server: client.getServerVersion().name,
        capabilities: client.getServerCapabilities()
    }),
    ping: () => client.ping(),
    list: async () => ({
        first: (await client.listTools()).tools[0],
        typed: (await client.listTools()).tools.filter(tool => tool.outputSchema).map(tool => tool.name),
        resources: (await client.listResources()).resources.map(one => one.uri),
        templates: (await client.listResourceTemplates()).resourceTemplates.map(one => one.uriTemplate),
        prompts: (await client.listPrompts()).prompts.length
    }),
    call: async () => ({
        text: text(await call('test_simple_text')),
        mixed: (await call('test_multiple_content_types')).content.map(block => block.type),
        header: text(await call('test_x_mcp_header', { region: '東京' })),
        list: text(await call('test_cancelled_calls')),
        failed: (await call('test_error_handling')).isError,
        unknown: await call('nothing').catch(error => error.code)
    }),
    progress: async () => {
        const seen = [];
        await call('test_tool_with_progress', {}, { onprogress: ({ progress }) => void seen.push(progress) });
        return seen;
    },
    log: async () => {
        for (const level of ['error', 'info']) {
            await client.setLoggingLevel(level);
            await call('test_logging_tool');
        }
        return said.logged;
    },
    read: async () => ({
        text: (await client.readResource({ uri: 'test://static-text' })).contents[0].text,
        binary: (await client.readResource({ uri: 'test://static-binary' })).contents[0].mimeType,
        template: JSON.parse((await client.readResource({ uri: 'test://template/7/data' })).contents[0].text).id,
        unknown: await client.readResource({ uri: 'test://nowhere' }).catch(error => error.code)
    }),
    get: async () => {
        const args = { arg1: 'one', arg2: 'two' };
        const prompt = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: args });
        return prompt.messages[0].content.text;
    },
    complete: async () => {
        const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
        return (await client.complete({ ref, argument: { name: 'arg1', value: 'test' } })).completion.values;
    },
    ask: async () => ({
        one: text(await call('test_input_required_result_elicitation')),
        several: text(await call('test_input_required_result_multiple_inputs')),
        rounds: text(await call('test_input_required_result_multi_round')),
        asked: said.asked.length
    }),
    changes: async () => {
        await call('test_trigger_tool_change');
        await call('test_trigger_prompt_change');
        await until(() => said.changed.includes('tools') && said.changed.includes('prompts'));
        return [...new Set(said.changed)].sort();
    },
    subscribe: async () => {
        const uri = 'test://static-text';
        await call('test_trigger_resource_change');
        await client.subscribeResource({ uri });
        await call('test_trigger_resource_change');
        await until(() => said.updated.length > 0);
        await client.unsubscribeResource({ uri });
        await call('test_trigger_resource_change');
        await client.ping();
        return said.updated;
    },
    cancel: async () => {
        const leaving = new AbortController();
        const options = { signal: leaving.signal, onprogress: () => leaving.abort() };
        const ended = await call('test_tool_without_end', { name: 'one' }, options).then(
            () => 'answered',
            () => 'cancelled'
        );
        const cancelled = async () => JSON.parse(text(await call('test_cancelled_calls')));
        await until(async () => (await cancelled()).length > 0);
        return { ended, seen: await cancelled() };
    }
};

transport.setProtocolVersion ??= version => void (said.version = version);
await client.connect(transport);
const outcomes = {};
for (const [verb, play] of Object.entries(verbs)) {
    outcomes[verb] = await play().catch(error => ({ error: String(error) }));
}
await client.close();
console.log(JSON.stringify(outcomes));

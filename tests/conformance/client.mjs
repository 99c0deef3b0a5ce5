// The official TypeScript client against the server at a URL: plays each verb and prints what became of it, as JSON.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const url = new URL(process.argv[2]);
const said = { progress: [], logged: [], changes: [] };

const client = new Client(
    { name: 'verbs', version: '1' },
    {
        versionNegotiation: { mode: { pin: '2026-07-28' } },
        capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} }
    }
);
client.setRequestHandler('elicitation/create', async request => ({
    action: 'accept',
    content: request.params.message.includes('color') ? { color: 'red' } : { name: 'Ann' }
}));
client.setRequestHandler('sampling/createMessage', async () => ({
    role: 'assistant',
    model: 'none',
    content: { type: 'text', text: 'Good day' }
}));
client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///home' }] }));
for (const list of ['tools', 'prompts']) {
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => void said.changes.push(list));
}
client.setNotificationHandler('notifications/message', ({ params }) => void said.logged.push(params.data));
client.onerror = error => console.error(error);

const call = (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, options);
const text = result => result.content.map(block => block.text ?? block.type).join(' ');
const until = async met => {
    while (!(await met())) await new Promise(resolve => setTimeout(resolve, 20));
};

const verbs = {
    discover: async () => ({
        version: client.getNegotiatedProtocolVersion(),
        server: client.getServerVersion().name,
        capabilities: client.getServerCapabilities()
    }),
    list: async () => ({
        tools: (await client.listTools()).tools.length,
        first: (await client.listTools()).tools[0],
        resources: (await client.listResources()).resources.map(one => one.uri),
        templates: (await client.listResourceTemplates()).resourceTemplates.map(one => one.uriTemplate),
        prompts: (await client.listPrompts()).prompts.map(one => one.name)
    }),
    call: async () => ({
        text: text(await call('test_simple_text')),
        mixed: (await call('test_multiple_content_types')).content.map(block => block.type),
        header: text(await call('test_x_mcp_header', { region: '東京' })),
        structured: (await call('test_cancelled_calls')).structuredContent,
        failed: (await call('test_error_handling')).isError,
        unknown: await call('nothing').catch(error => error.code)
    }),
    progress: async () => {
        const onprogress = ({ progress }) => void said.progress.push(progress);
        await call('test_tool_with_progress', {}, { onprogress });
        return said.progress;
    },
    log: async () => {
        const _meta = { 'io.modelcontextprotocol/logLevel': 'info' };
        await client.callTool({ name: 'test_logging_tool', arguments: {}, _meta });
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
        return (await client.complete({ ref, argument: { name: 'arg1', value: 'test' } })).completion;
    },
    elicit: async () => ({
        one: text(await call('test_input_required_result_elicitation')),
        several: text(await call('test_input_required_result_multiple_inputs')),
        rounds: text(await call('test_input_required_result_multi_round'))
    }),
    listen: async () => {
        const subscription = await client.listen({ toolsListChanged: true, promptsListChanged: true });
        await call('test_trigger_tool_change');
        await call('test_trigger_prompt_change');
        await until(() => said.changes.includes('tools') && said.changes.includes('prompts'));
        await subscription.close();
        return { honoured: subscription.honoredFilter, closed: await subscription.closed };
    },
    cancel: async () => {
        const leaving = new AbortController();
        const options = { signal: leaving.signal, onprogress: () => leaving.abort() };
        const ended = await call('test_tool_without_end', { name: 'one' }, options).then(
            () => 'answered',
            () => 'cancelled'
        );
        const cancelled = async () => (await call('test_cancelled_calls')).structuredContent;
        await until(async () => (await cancelled()).length > 0);
        return { ended, seen: await cancelled() };
    }
};

await client.connect(new StreamableHTTPClientTransport(url));
const outcomes = {};
for (const [verb, play] of Object.entries(verbs)) {
    outcomes[verb] = await play().catch(error => ({ error: String(error) }));
}
await client.close();
console.log(JSON.stringify(outcomes));

// A server on the official TypeScript package: `node server.mjs FILE [--stdio]`; HTTP on a free port without the flag.
// Its offers have the names that they have in the everything servers. FILE receives the method of each cancelled call.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
    McpServer,
    ResourceTemplate,
    acceptedContent,
    completable,
    createMcpHandler,
    createRequestStateCodec,
    inputRequired,
    inputResponse
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const [file, flag] = process.argv.slice(2);
const state = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });
const WORDS = ['test', 'testing', 'tested', 'other'];
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

const said = (...texts) => ({ content: texts.map(text => ({ type: 'text', text })) });
const shown = text => ({ messages: [{ role: 'user', content: { type: 'text', text } }] });
const like = value => WORDS.filter(word => word.startsWith(value));
const question = (message, member) =>
    inputRequired.elicit({ message, requestedSchema: z.object({ [member]: z.string() }) });

/** Tells of changes; over HTTP each request has a server of its own, and the handler knows the subscriptions. */
let tell = server => ({
    toolsChanged: () => server.sendToolListChanged(),
    promptsChanged: () => server.sendPromptListChanged(),
    resourceUpdated: uri => server.server.sendResourceUpdated({ uri })
});

const tools = server => {
    const tool = (name, play, shape = {}) => {
        server.registerTool(name, { description: name, inputSchema: z.object(shape) }, play);
    };
    const progress = async ({ mcpReq }, done, message) => {
        const progressToken = mcpReq._meta?.progressToken;
        if (progressToken === undefined) return;
        const params = { progressToken, progress: done, total: 100, message };
        await mcpReq.notify({ method: 'notifications/progress', params });
    };

    const outputSchema = z.object({ result: z.string() });
    server.registerTool('test_simple_text', { outputSchema }, () => {
        const result = 'This is a simple text response for testing.';
        return { ...said(result), structuredContent: { result } };
    });
    tool('test_multiple_content_types', () => ({
        content: [
            { type: 'text', text: 'Three of a kind each' },
            { type: 'image', data: PIXEL, mimeType: 'image/png' },
            { type: 'resource', resource: { uri: 'test://mixed', mimeType: 'text/plain', text: 'held' } }
        ]
    }));
    tool('test_error_handling', () => {
        throw new Error('This tool intentionally returns an error for testing');
    });
    tool('test_x_mcp_header', ({ region }) => said(`region=${region}`), {
        region: z.string().meta({ 'x-mcp-header': 'Region' })
    });
    tool('test_tool_with_progress', async (_, ctx) => {
        for (const done of [0, 50, 100]) await progress(ctx, done, `Completed step ${done} of 100`);
        return said('All of 100');
    });
    tool('test_logging_tool', async (_, { mcpReq }) => {
        await mcpReq.log('info', 'test_logging_tool ran');
        return said('logged');
    });
    tool('test_tool_without_end', async (_, ctx) => {
        const { signal, method } = ctx.mcpReq;
        const cancelled = new Promise(resolve => signal.addEventListener('abort', resolve));
        await progress(ctx, 1, 'waiting');
        await cancelled;
        appendFileSync(file, `${method}\n`);
        return said('never');
    });
    tool('test_trigger_tool_change', () => {
        tell(server).toolsChanged();
        return said('tool list changed');
    });
    tool('test_trigger_prompt_change', () => {
        tell(server).promptsChanged();
        return said('prompt list changed');
    });
    tool('test_trigger_resource_change', async () => {
        await tell(server).resourceUpdated('test://static-text');
        return said('resource changed');
    });
    tool('test_input_required_result_elicitation', (_, { mcpReq }) => {
        const given = inputResponse(mcpReq.inputResponses, 'user_name');
        if (given.kind === 'missing') {
            return inputRequired({ inputRequests: { user_name: question('What is your name?', 'name') } });
        }
        return said(given.action === 'accept' ? `Hello, ${given.content.name}!` : 'Hello, ?!');
    });
    tool('test_input_required_result_multiple_inputs', (_, { mcpReq }) => {
        const kinds = ['user_name', 'greeting', 'client_roots'].map(
            key => inputResponse(mcpReq.inputResponses, key).kind
        );
        if (`${kinds}` === 'elicit,sampling,roots') return said('All inputs received.');
        const messages = [{ role: 'user', content: { type: 'text', text: 'Greet somebody' } }];
        return inputRequired({
            inputRequests: {
                user_name: question('What is your name?', 'name'),
                greeting: inputRequired.createMessage({ messages, maxTokens: 50 }),
                client_roots: inputRequired.listRoots()
            }
        });
    });
    tool('test_input_required_result_multi_round', async (_, { mcpReq }) => {
        const name = mcpReq.requestState() ?? acceptedContent(mcpReq.inputResponses, 'step1')?.name;
        if (name === undefined) {
            return inputRequired({ inputRequests: { step1: question('Step 1: what is your name?', 'name') } });
        }
        const colour = acceptedContent(mcpReq.inputResponses, 'step2')?.color;
        if (colour !== undefined) return said(`${name} likes ${colour}.`);
        const inputRequests = { step2: question('Step 2: what is your favorite color?', 'color') };
        return inputRequired({ inputRequests, requestState: await state.mint(name) });
    });
};

const resources = server => {
    const one = (uri, content) => ({ contents: [{ uri: uri.href, ...content }] });
    server.registerResource('static_text', 'test://static-text', { mimeType: 'text/plain' }, uri =>
        one(uri, { mimeType: 'text/plain', text: 'This is the content of the static text resource.' })
    );
    server.registerResource('static_binary', 'test://static-binary', { mimeType: 'image/png' }, uri =>
        one(uri, { mimeType: 'image/png', blob: PIXEL })
    );
    const complete = { id: like };
    server.registerResource(
        'template',
        new ResourceTemplate('test://template/{id}/data', { list: undefined, complete }),
        { mimeType: 'application/json' },
        (uri, { id }) => one(uri, { mimeType: 'application/json', text: JSON.stringify({ id }) })
    );
};

const prompts = server => {
    server.registerPrompt('test_simple_prompt', {}, () => shown('This is a simple prompt for testing.'));
    server.registerPrompt(
        'test_prompt_with_arguments',
        { argsSchema: z.object({ arg1: completable(z.string(), like), arg2: z.string() }) },
        ({ arg1, arg2 }) => shown(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)
    );
    server.registerPrompt('test_input_required_result_prompt', {}, ({ mcpReq }) => {
        const about = acceptedContent(mcpReq.inputResponses, 'user_context');
        if (about) return shown(`Use the following context: ${about.context}`);
        const asked = question('What context should the prompt use?', 'context');
        return inputRequired({ inputRequests: { user_context: asked } });
    });
};

const build = () => {
    const server = new McpServer(
        { name: 'typescript', version: '1' },
        { capabilities: { logging: {}, resources: { subscribe: true } }, requestState: { verify: state.verify } }
    );
    for (const register of [tools, resources, prompts]) register(server);
    return server;
};

if (flag === '--stdio') {
    serveStdio(build, { onerror: error => console.error(error) });
} else {
    const handler = createMcpHandler(build, { onerror: error => console.error(error) });
    tell = () => handler.notify;
    const site = createServer(toNodeHandler(handler)).listen(0, '127.0.0.1', () => {
        console.error(`running on http://127.0.0.1:${site.address().port}`);
    });
}

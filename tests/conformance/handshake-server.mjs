// A server on the official TypeScript package of the handshake era, for the plays: `node handshake-server.mjs stdio|streamable-http`.
// Over HTTP each session has a server of its own, on a free port; what is noted is noted for all.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';

const noted = { cancelled: [], levels: [], subscribed: [] };
const said = text => ({ content: [{ type: 'text', text }] });
const structured = value => ({ ...said(JSON.stringify(value)), structuredContent: value });
const like = value => [`${value}nna`];

const FORM = {
    type: 'object',
    properties: { name: { type: 'string' }, times: { type: 'integer', default: 2 } },
    required: ['name']
};

/** The tools that ask: what belongs to a call is sent on its stream, and the rest on the one of the session. */
const asking = server => {
    const tool = (name, play, inputSchema = {}) => server.registerTool(name, { description: name, inputSchema }, play);
    const within = ({ requestId }) => ({ relatedRequestId: requestId });

    tool(
        'ask',
        async ({ message }, extra) => {
            const params = { mode: 'form', message, requestedSchema: FORM };
            const { action, content } = await server.server.elicitInput(params, within(extra));
            return said(action === 'accept' ? content.name.repeat(content.times) : action);
        },
        { message: z.string() }
    );
    tool(
        'link',
        async ({ url }, extra) => {
            const params = { mode: 'url', message: 'Go there', url, elicitationId: 'one' };
            return said((await server.server.elicitInput(params, within(extra))).action);
        },
        { url: z.string() }
    );
    tool('sample', async extra => {
        const messages = [{ role: 'user', content: { type: 'text', text: 'hi' } }];
        return said((await server.server.createMessage({ messages, maxTokens: 5 }, within(extra))).content.text);
    });
    tool('roots', async () => said((await server.server.listRoots()).roots.map(root => root.uri).join()));
    tool('ping', async () => said((await server.server.ping()) && 'pong'));
};

/** The tools that tell. */
const telling = server => {
    const tool = (name, play) => server.registerTool(name, { description: name }, play);

    tool('steps', async ({ _meta, sendNotification }) => {
        for (const step of [1, 2]) {
            const params = { progressToken: _meta.progressToken, progress: step, total: 2, message: `step ${step}` };
            await sendNotification({ method: 'notifications/progress', params });
        }
        return said('done');
    });
    tool('speak', async ({ sessionId }) => {
        for (const level of ['debug', 'info', 'error']) {
            await server.sendLoggingMessage({ level, data: level }, sessionId);
        }
        return said('said');
    });
    tool('wait', async ({ signal }) => {
        await new Promise(resolve => signal.addEventListener('abort', resolve));
        noted.cancelled.push('wait');
        return said('never');
    });
    tool('change', async () => {
        tool('extra', async () => said('new'));
        server.sendPromptListChanged();
        server.sendResourceListChanged();
        await server.server.sendResourceUpdated({ uri: 'config://app' });
        return said('changed');
    });
};

const offers = server => {
    const numbers = { a: z.number(), b: z.number() };
    server.registerTool('add', { inputSchema: numbers, outputSchema: { result: z.number() } }, ({ a, b }) =>
        structured({ result: a + b })
    );
    const outputSchema = Object.fromEntries(Object.keys(noted).map(name => [name, z.array(z.string())]));
    server.registerTool('noted', { outputSchema }, () => structured(noted));
    const one = (uri, content) => ({ contents: [{ uri: uri.href, ...content }] });
    server.registerResource('config', 'config://app', {}, uri => one(uri, { text: 'on' }));
    const image = { mimeType: 'image/png' };
    server.registerResource('dot', 'image://dot', image, uri =>
        one(uri, { ...image, blob: Buffer.from('\x00\xffdot', 'latin1').toString('base64') })
    );
    const users = new ResourceTemplate('users://{id}', { list: undefined, complete: { id: like } });
    server.registerResource('user', users, {}, (uri, { id }) => one(uri, { text: `user ${id}` }));
    const argsSchema = { name: completable(z.string(), like) };
    server.registerPrompt('hello', { argsSchema }, ({ name }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `hello ${name}` } }]
    }));
};

const subscriptions = server => {
    for (const [schema, sign] of [
        [SubscribeRequestSchema, '+'],
        [UnsubscribeRequestSchema, '-']
    ]) {
        server.server.setRequestHandler(schema, ({ params }) => {
            noted.subscribed.push(sign + params.uri);
            return {};
        });
    }
};

const connected = async transport => {
    const capabilities = { logging: {}, resources: { subscribe: true } };
    const server = new McpServer({ name: 'official', version: '1' }, { capabilities, instructions: 'ask' });
    for (const register of [asking, telling, offers, subscriptions]) register(server);
    server.server.onerror = error => console.error(error);
    await server.connect(transport);
    // The package sets the level by itself; here is seen that it was asked to.
    const take = transport.onmessage;
    transport.onmessage = (message, extra) => {
        if (message.method === 'logging/setLevel') noted.levels.push(message.params.level);
        take(message, extra);
    };
    return transport;
};

const sessions = new Map();

const begun = () => {
    const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: id => void sessions.set(id, transport),
        onsessionclosed: id => void sessions.delete(id)
    });
    return connected(transport);
};

const answer = async (request, response) => {
    const id = request.headers['mcp-session-id'];
    const transport = id === undefined ? await begun() : sessions.get(id);
    if (transport === undefined) response.writeHead(404).end();
    else await transport.handleRequest(request, response);
};

if (process.argv[2] === 'stdio') {
    await connected(new StdioServerTransport());
} else {
    const site = createServer(answer).listen(0, '127.0.0.1', () => {
        console.error(`running on http://127.0.0.1:${site.address().port}`);
    });
}

/** The TypeScript SDK as a team would serve it: on stdio, or on a local port with `--transport http --port N`. */

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const argument = (name: string) => process.argv[process.argv.indexOf(name) + 1];
// When told to ignore the flags, it behaves like a server written for stdio only.
const isHttp = process.env['WEB_KNOWS_NO_FLAGS'] === undefined && process.argv.includes('--port');
if (process.env['WEB_REFUSES_FLAGS'] !== undefined && process.argv.includes('--port')) {
  console.error('unknown option --transport');
  process.exit(64);
}

interface Own {
  device: { id: string };
}

const present = new Set<string>();
const text = (text: string) => ({ content: [{ type: 'text' as const, text }] });
const own = (extra: { _meta?: Record<string, unknown> }) => extra._meta?.['trailblaze'] as Own;

function toolset(): McpServer {
  const server = new McpServer({ name: 'web', version: '1.0.0' }, { capabilities: { logging: {} } });
  server.registerTool('ts_device', {}, (extra) => text(own(extra).device.id));
  server.registerTool('ts_talk', {}, async (extra) => {
    const progressToken = extra._meta?.progressToken;
    if (progressToken !== undefined) {
      await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
    }
    return text('talked');
  });
  server.registerTool('ts_meet', { inputSchema: { n: z.number() } }, async ({ n }, extra) => {
    present.add(own(extra).device.id);
    while (present.size < n) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return { ...text('met'), structuredContent: { process: process.pid, transport: isHttp ? 'http' : 'stdio' } };
  });
  server.registerTool('ts_grow', {}, () => {
    server.registerTool('ts_grown', {}, () => text('I am new'));
    return text('grown');
  });
  server.registerTool('ts_stay', {}, async (extra) => {
    console.error('staying');
    if (!extra.signal.aborted) {
      await new Promise((resolve) => extra.signal.addEventListener('abort', resolve));
    }
    console.error('called off');
    return text('left');
  });
  return server;
}

if (isHttp) {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const listener = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id'] as string | undefined;
    let transport = id === undefined ? undefined : sessions.get(id);
    if (id !== undefined && transport === undefined) {
      response.writeHead(404).end();
      return;
    }
    if (transport === undefined) {
      const opened = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, opened),
        onsessionclosed: (id) => {
          console.error('session closed');
          sessions.delete(id);
        },
      });
      await toolset().connect(opened);
      transport = opened;
    }
    await transport.handleRequest(request, response);
  });
  listener.listen(Number(argument('--port')), '127.0.0.1', () => {
    const address = listener.address();
    console.log(`listening on ${typeof address === 'object' ? address?.port : ''}`);
  });
} else {
  await toolset().connect(new StdioServerTransport());
}

/** Serves the tools over HTTP, so that one process serves several devices. Accepts only programs on this machine. */

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

import { messageOf } from './errors.ts';

const HOST = '127.0.0.1';
const PATH = '/mcp';
/** Sessions of clients that disappeared stay open, so their number is limited. */
const MAX_SESSIONS = 100;

export type Listening = { address: string; close(): Promise<void> };

/**
 * The port of `--transport http --port N`; undefined means stdio. Trailblaze starts a server with these arguments when several
 * devices share it.
 */
export function askedPort(args: readonly string[]): number | undefined {
  const value = (name: string): string | undefined => {
    const at = args.findIndex((arg) => arg === name || arg.startsWith(`${name}=`));
    return at < 0 ? undefined : args[at] === name ? args[at + 1] : args[at]?.slice(name.length + 1);
  };
  const transport = value('--transport');
  if (transport === undefined || transport === 'stdio') {
    return undefined;
  }
  if (transport !== 'http') {
    throw new TypeError(`\`--transport\` must be stdio or http, got \`${transport}\``);
  }
  const port = value('--port');
  if (port === undefined || !/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new TypeError(`\`--transport http\` needs a \`--port\` from 0 to 65535, got \`${port ?? 'none'}\``);
  }
  return Number(port);
}

/** Serves until it is closed. Each client session gets its own server from `makeServer`. */
export async function listen(port: number, makeServer: () => Server): Promise<Listening> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const listener = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      console.error(`a request failed: ${messageOf(error)}`);
      refuse(response, 500, 'the request failed');
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLocal(request)) {
      return refuse(response, 403, 'only programs on this machine may call');
    }
    if (request.url?.split('?')[0] !== PATH) {
      return refuse(response, 404, `tools are served at ${PATH}`);
    }
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && known === undefined) {
      return refuse(response, 404, 'unknown session');
    }
    if (known === undefined && sessions.size >= MAX_SESSIONS) {
      return refuse(response, 503, `too many sessions: ${MAX_SESSIONS} are open`);
    }
    await (known ?? (await open())).handleRequest(request, response);
  }

  async function open(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    // The SDK's types are inconsistent under `exactOptionalPropertyTypes`.
    await makeServer().connect(transport as Transport);
    return transport;
  }

  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(port, HOST, resolve);
  });
  const address = `http://${HOST}:${(listener.address() as AddressInfo).port}${PATH}`;
  return {
    address,
    close: async () => {
      listener.close();
      await Promise.allSettled([...sessions.values()].map((transport) => transport.close()));
      listener.closeAllConnections();
    },
  };
}

/** Whether a request comes from a program on this machine, and not from a web page in its browser. */
function isLocal(request: IncomingMessage): boolean {
  const port = request.socket.localPort;
  const names = [HOST, 'localhost', '[::1]'].map((name) => `${name}:${port}`);
  const { host, origin } = request.headers;
  const hosts = request.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  const isOurs = (name: string) => names.includes(name.toLowerCase());
  return hosts.length === 1 && isOurs(host ?? '') && (origin === undefined || isOurs(origin.replace(/^http:\/\//, '')));
}

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } });
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

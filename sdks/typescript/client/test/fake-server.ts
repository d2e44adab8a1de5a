/** A fake of Trailblaze's API, which answers as a test says. */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export type Received = { path: string; headers: IncomingHttpHeaders; body: Record<string, unknown>; connection: number };
export type Answering = (received: Received, response: ServerResponse, socket: Socket) => unknown;
export type FakeServer = { address: string; received: Received[]; connections: () => number; close(): Promise<void> };

/** Answers with the JSON that `answer` returns, unless it answers itself and returns undefined. */
export async function fakeServer(answer: Answering): Promise<FakeServer> {
  const received: Received[] = [];
  const known = new Map<Socket, number>();
  const server = createServer(async (request, response) => {
    const bytes = await bytesOf(request);
    const isStream = request.headers['content-type'] === 'application/connect+json';
    const text = isStream ? bytes.toString('utf8', 5, 5 + bytes.readUInt32BE(1)) : bytes.toString('utf8');
    const body = JSON.parse(text) as Record<string, unknown>;
    const connection = known.get(request.socket) ?? 0;
    const one: Received = { path: request.url ?? '', headers: request.headers, body, connection };
    received.push(one);
    const answered = answer(one, response, request.socket);
    if (answered !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answered));
    }
  });
  server.on('connection', (socket) => known.set(socket, known.size + 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}`, received, connections: () => known.size, close };
}

export function refuse(response: ServerResponse, status: number, body: unknown): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

export const OK = { success: true, message: 'done', variant: '' };

/** A message of a stream. */
export function frame(message: unknown, flags = 0): Buffer {
  const json = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
  const head = Buffer.from([flags, 0, 0, 0, 0]);
  head.writeUInt32BE(json.length, 1);
  return Buffer.concat([head, json]);
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

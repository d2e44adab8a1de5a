/** A fake of Trailblaze's callback endpoint. */

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = { method: string; url: string; contentType: string; body: unknown };
export type Reply = { status?: number; body: string } | 'never';

export type CallbackServer = { baseUrl: string; received: Received[]; close(): Promise<void> };

/** Answers every request with `reply`, and records the requests. */
export async function callbackServer(reply: (received: Received) => Reply): Promise<CallbackServer> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    const { method = '', url = '', headers } = request;
    const one = { method, url, contentType: headers['content-type'] ?? '', body: JSON.parse(text) as unknown };
    received.push(one);
    const said = reply(one);
    if (said !== 'never') {
      response.writeHead(said.status ?? 200, { 'content-type': 'application/json' }).end(said.body);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { baseUrl: `http://127.0.0.1:${port}`, received, close };
}

export function succeeded(textContent: string): Reply {
  return { body: JSON.stringify({ result: { type: 'call_tool_result', success: true, textContent, errorMessage: '' } }) };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

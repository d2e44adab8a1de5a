/** A server of the older SDK whose tools ask a model while they are called, and after that. */

import { existsSync, writeFileSync } from 'node:fs';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'asks', version: '1.0.0' });
const text = (text: string) => ({ content: [{ type: 'text' as const, text }] });
const said = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function ask(question: string): Promise<string> {
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: question } }];
  const reply = await server.server.createMessage({ messages, maxTokens: 20, modelPreferences: { hints: [{ name: 'any' }] } });
  return `${reply.model}: ${JSON.stringify(reply.content)}`;
}

/** Asks once the file `ask` is there, and then writes `asked`. */
async function askWhenTold(): Promise<string> {
  while (!existsSync('ask')) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const reply = await ask('Still there?').catch(said);
  writeFileSync('asked', '');
  return reply;
}

/** What became of a question that was asked after its call. */
let afterwards: Promise<string> = Promise.resolve('nothing was asked');

server.registerTool('asks_older', { inputSchema: { question: z.string() } }, async ({ question }) => text(await ask(question)));
server.registerTool('asks_often', { inputSchema: { times: z.number() } }, async ({ times }) => {
  const asked = Array.from({ length: times }, (_, number) => ask(`Number ${number}?`).then(() => 'answered', said));
  const counted: Record<string, number> = {};
  for (const answer of await Promise.all(asked)) counted[answer] = (counted[answer] ?? 0) + 1;
  return text(JSON.stringify(counted));
});
server.registerTool('asks_at_length', {}, async () => text(await ask('x'.repeat(1_000_000)).catch(said)));
server.registerTool('asks_afterwards', {}, async () => {
  afterwards = askWhenTold();
  return text('done');
});
server.registerTool('asks_what_became_of_it', {}, async () => text(await afterwards));

await server.connect(new StdioServerTransport());

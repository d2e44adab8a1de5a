/** A server of the newer SDK whose tools ask a model: by a request in the older generation, by an answer in the newer one. */

import { inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const asking = (text: string) => ({ messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }], maxTokens: 20 });
const text = (text: string) => ({ content: [{ type: 'text' as const, text }] });
const question = z.looseObject({ question: z.string() });

serveStdio(() => {
  const server = new McpServer({ name: 'asks', version: '1.0.0' });
  server.registerTool('asks_push', { inputSchema: question }, async (args, ctx) => {
    const reply = await ctx.mcpReq.requestSampling(asking(args.question));
    return text(`${reply.model}: ${JSON.stringify(reply.content)}`);
  });
  server.registerTool('asks_rounds', { inputSchema: question }, async (args, ctx) => {
    const state = ctx.mcpReq.requestState();
    const reply = inputResponse(ctx.mcpReq.inputResponses, 'reply');
    if (reply.kind !== 'sampling') {
      return inputRequired({ inputRequests: { reply: inputRequired.createMessage(asking(args.question)) }, requestState: 'kept' });
    }
    return text(`${reply.result.model}: ${JSON.stringify(reply.result.content)} ${state}`);
  });
  server.registerTool('asks_forever', {}, async () =>
    inputRequired({ inputRequests: { reply: inputRequired.createMessage(asking('Again?')) } }),
  );
  server.registerTool('asks_waiting', {}, async (ctx) => {
    const round = Number(ctx.mcpReq.requestState() ?? 0);
    return round < 3 ? inputRequired({ requestState: String(round + 1) }) : text(`waited ${round} times`);
  });
  server.registerTool('asks_a_person', {}, async () =>
    inputRequired({
      inputRequests: { name: inputRequired.elicit({ message: 'Who are you?', requestedSchema: { type: 'object', properties: {} } }) },
    }),
  );
  return server;
});

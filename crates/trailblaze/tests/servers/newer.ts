/** A server of the newer generation of the protocol, which also speaks the older one. */

import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const legacy = process.env['NEWER_ONLY'] === undefined ? 'serve' : 'reject';

serveStdio(
  () => {
    const server = new McpServer({ name: 'newer', version: '2.0.0' }, { capabilities: { logging: {}, tools: { listChanged: true } } });
    server.registerTool('newer_echo', { inputSchema: z.looseObject({ word: z.string() }) }, (args, ctx) => ({
      content: [{ type: 'text', text: args.word }],
      structuredContent: { arguments: args, _meta: ctx.mcpReq._meta as Record<string, unknown> },
    }));
    server.registerTool('newer_talk', {}, async (ctx) => {
      await ctx.mcpReq.log('warning', 'a word of warning');
      const progressToken = ctx.mcpReq._meta?.progressToken;
      if (progressToken !== undefined) {
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
      }
      return { content: [{ type: 'text', text: 'talked' }] };
    });
    server.registerTool('newer_grow', {}, () => {
      server.registerTool('newer_grown', {}, () => ({ content: [{ type: 'text', text: 'I am new' }] }));
      return { content: [{ type: 'text', text: 'grown' }] };
    });
    return server;
  },
  { legacy },
);

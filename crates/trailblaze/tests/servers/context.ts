/** Tools that read the context as an argument, with the SDK's own way of writing tools. */

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const server = new McpServer({ name: 'context', version: '1.0.0' });

const handler = (args: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: `${args['_trailblazeContext'] !== undefined}` }],
});

const context = z.looseObject({}).optional();
server.registerTool('context_undeclared', { description: 'Gets none.', inputSchema: { word: z.string().optional() } }, handler);
server.registerTool('context_declared', { description: 'Gets it.', inputSchema: { _trailblazeContext: context } }, handler);
server.registerTool('context_open', { description: 'Gets it.', inputSchema: z.looseObject({}) }, handler);

await server.connect(new StdioServerTransport());

/** Schemas of every strictness, with the SDK's own way of writing tools. Each answers with the names of its arguments. */

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const server = new McpServer({ name: 'schemas', version: '1.0.0' });

const told = (args: Record<string, unknown>, extra: { _meta?: Record<string, unknown> }) =>
  text(`${Object.keys(args).sort()}; _meta: ${extra._meta?.['trailblaze'] !== undefined}`);

const word = z.string();
const context = z.looseObject({}).optional();
server.registerTool('schema_strict', { inputSchema: z.strictObject({ word }) }, told);
server.registerTool('schema_loose', { inputSchema: z.looseObject({ word }) }, told);
server.registerTool('schema_declared', { inputSchema: z.strictObject({ word, _trailblazeContext: context }) }, told);
server.registerTool('schema_placed', { inputSchema: z.strictObject({ word, _trailblaze: z.looseObject({}) }) }, (args) =>
  text(JSON.stringify(args._trailblaze)),
);
server.registerTool('schema_capabilities', {}, () => text(JSON.stringify(server.server.getClientCapabilities())));

// Tools that add another tool, use it, and remove it.
let grown: { remove: () => void } | undefined;
server.registerTool('schema_grow', {}, () => {
  grown ??= server.registerTool('schema_grown', {}, () => text('I am new'));
  return text('grown');
});
server.registerTool('schema_useGrown', {}, async (extra) => {
  const { baseUrl, sessionId, invocationId } = extra._meta?.['trailblaze'] as Record<string, string>;
  const response = await fetch(`${baseUrl}/scripting/callback`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      session_id: sessionId,
      invocation_id: invocationId,
      action: { type: 'call_tool', tool_name: 'schema_grown', arguments_json: '{}' },
    }),
  });
  return text(JSON.stringify(await response.json()));
});
server.registerTool('schema_shrink', {}, () => {
  grown?.remove();
  return text('shrunk');
});

await server.connect(new StdioServerTransport());

function text(words: string): CallToolResult {
  return { content: [{ type: 'text', text: words }] };
}

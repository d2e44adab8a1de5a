/**
 * A server with the official MCP SDK alone. It imports only types from @trailblaze/scripting, which cost nothing at run time.
 * `acme_splitBill` works under any MCP client; `acme_nameScreen` needs what Trailblaze adds to the arguments.
 */

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { TrailblazeContext, TrailblazeTool } from '@trailblaze/scripting';

type Arguments = Record<string, unknown> & { _trailblazeContext?: TrailblazeContext };
type RawTool = { tool: TrailblazeTool; call: (args: Arguments) => CallToolResult };

const splitBill: RawTool = {
  tool: {
    name: 'acme_splitBill',
    description: 'Split a bill evenly. Returns one share, and remembers it as `share`.',
    inputSchema: {
      type: 'object',
      properties: {
        total: { type: 'number', description: 'The bill, in euros' },
        people: { type: 'integer', minimum: 1, description: 'How many people share it' },
      },
      required: ['total', 'people'],
    },
    annotations: { readOnlyHint: true },
  },
  call: ({ total, people }) => {
    if (typeof total !== 'number' || !Number.isInteger(people) || Number(people) < 1) {
      return failed('`total` must be a number, and `people` an integer of at least 1');
    }
    const share = (total / Number(people)).toFixed(2);
    return remembering({ share }, share);
  },
};

const nameScreen: RawTool = {
  tool: {
    name: 'acme_nameScreen',
    description: 'Return whether the screen is portrait or landscape, and remember it as `screen`.',
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true },
    _meta: { 'trailblaze/requiresContext': true },
  },
  call: ({ _trailblazeContext }) => {
    if (_trailblazeContext === undefined) {
      return failed('acme_nameScreen works only under Trailblaze, which tells it the device');
    }
    const { platform, widthPixels, heightPixels } = _trailblazeContext.device;
    const screen = widthPixels > heightPixels ? 'landscape' : 'portrait';
    return remembering({ screen }, `${platform}, ${screen}, ${widthPixels} × ${heightPixels}`);
  },
};

const tools = new Map([splitBill, nameScreen].map((raw) => [raw.tool.name, raw]));

const server = new Server({ name: 'acme-raw', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools.values()].map(({ tool }) => tool) }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  const found = tools.get(params.name);
  return found === undefined ? failed(`unknown tool ${params.name}`) : found.call(params.arguments ?? {});
});
await server.connect(new StdioServerTransport());

function remembering(memoryDelta: Record<string, unknown>, text: string): CallToolResult {
  // Other clients ignore unknown keys in `_meta`.
  return { content: [{ type: 'text', text }], isError: false, _meta: { trailblaze: { memoryDelta } } };
}

function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

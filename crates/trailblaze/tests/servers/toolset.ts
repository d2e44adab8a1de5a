/** A toolset that uses only the official MCP SDK. Each tool tests one thing that a session does with server tools. */

import { appendFileSync } from 'node:fs';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';

type Params = { name: string; arguments?: Record<string, any>; _meta?: Record<string, any> };
type Fixture = {
  about: string;
  input?: Record<string, unknown>;
  required?: string[];
  meta?: Record<string, unknown>;
  call: (params: Required<Params>) => CallToolResult;
};

const number = { type: 'number' };

const fixtures: Record<string, Fixture> = {
  fixture_add: {
    about: 'Add two numbers; knows nothing of Trailblaze.',
    input: { a: number, b: number },
    required: ['a', 'b'],
    call: ({ arguments: { a, b } }) => text(String(a + b)),
  },
  fixture_whereAmI: {
    about: 'Say where it runs and what is remembered as `x`.',
    call: ({ arguments: { _trailblazeContext: context } }) =>
      context === undefined
        ? { ...text('this needs Trailblaze'), isError: true }
        : text(`${context.device.platform} ${context.memory.x}`),
  },
  fixture_onAccessibility: {
    about: 'For one driver.',
    meta: { 'trailblaze/supportedDrivers': ['android-ondevice-accessibility'] },
    call: () => text('by accessibility'),
  },
  fixture_onHost: {
    about: 'For agents on the host.',
    meta: { 'trailblaze/requiresHost': true },
    call: () => text('on the host'),
  },
  fixture_pushed: {
    about: 'Names its toolset itself.',
    meta: { 'trailblaze/toolset': 'otherToolset' },
    call: () => text('pushed'),
  },
  fixture_pulled: {
    about: 'Waits for a toolset to name it.',
    call: () => text('pulled'),
  },
  fixture_echo: {
    about: 'Answer with all that it was sent.',
    input: { word: { type: 'string' } },
    call: ({ arguments: args, _meta }) => ({ ...text('echo'), structuredContent: { arguments: args, _meta } }),
  },
  fixture_environment: {
    about: 'Answer with its environment and its folder.',
    call: () => ({ ...text('environment'), structuredContent: { folder: process.cwd(), env: process.env } }),
  },
  fixture_runtime: {
    about: 'Say what runs it.',
    call: () => text(process.versions['bun'] !== undefined ? 'bun' : 'node'),
  },
  fixture_crash: {
    about: 'End at once, with a word.',
    call: () => {
      console.error('out of tea');
      process.exit(7);
    },
  },
};

// Says goodbye when it is stopped cleanly.
process.stdin.on('end', () => {
  if (process.env['FAREWELL'] !== undefined) {
    appendFileSync(process.env['FAREWELL'], 'bye\n');
  }
  process.exit(0);
});

const server = new Server({ name: 'fixture', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.entries(fixtures).map(([name, { about, input = {}, required = [], meta }]) => ({
    name,
    description: about,
    inputSchema: { type: 'object' as const, properties: input, required },
    ...(meta === undefined ? {} : { _meta: meta }),
  })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  const { name, arguments: args = {}, _meta = {} } = params as Params;
  return fixtures[name]?.call({ name, arguments: args, _meta }) ?? { ...text(`no tool ${name}`), isError: true };
});
await server.connect(new StdioServerTransport());

function text(words: string): CallToolResult {
  return { content: [{ type: 'text', text: words }] };
}

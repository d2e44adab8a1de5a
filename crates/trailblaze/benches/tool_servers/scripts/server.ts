/** A server with the official SDK: a tool that gives back its text, and one that calls back and times itself. */

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const tools = [
  {
    name: 'bench_echo',
    description: 'Gives back its text.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string' }, count: { type: 'integer', minimum: 0 } },
      required: ['text'],
    },
  },
  {
    name: 'bench_callBack',
    description: 'Calls back, and in turns asks a bare server, as often as it is told.',
    inputSchema: {
      type: 'object',
      properties: {
        rounds: { type: 'integer' },
        bareUrl: { type: 'string' },
        tool: { type: 'string' },
        args: { type: 'string', description: 'Of the tool, as JSON.' },
      },
      required: ['rounds', 'bareUrl', 'tool', 'args'],
    },
  },
];

const { START_DELAY_MS } = process.env;
if (START_DELAY_MS !== undefined) {
  await new Promise((resolve) => setTimeout(resolve, Number(START_DELAY_MS)));
}
const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
  params.name === 'bench_echo' ? said(String(params.arguments?.['text'])) : callBack(params),
);
await server.connect(new StdioServerTransport());

function said(text: string) {
  return { content: [{ type: 'text' as const, text }] };
}

type Params = { arguments?: Record<string, unknown>; _meta?: Record<string, unknown> };

async function callBack({ arguments: args, _meta }: Params) {
  const { sessionId, invocationId } = _meta?.['trailblaze'] as { sessionId: string; invocationId: string };
  const request = JSON.stringify({
    version: 1,
    session_id: sessionId,
    invocation_id: invocationId,
    action: { type: 'call_tool', tool_name: args?.['tool'], arguments_json: args?.['args'] },
  });
  const times = { callback: [] as number[], bare: [] as number[] };
  for (let round = 0; round < Number(args?.['rounds']); round += 1) {
    times.callback.push(await timed(String(process.env['TRAILBLAZE_CALLBACK_URL']), request));
    times.bare.push(await timed(String(args?.['bareUrl']), request));
  }
  return { ...said('done'), structuredContent: times };
}

/** The microseconds that a fetch takes, until its answer is read. */
async function timed(url: string, body: string): Promise<number> {
  const started = performance.now();
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const answer = await response.json();
  const micros = (performance.now() - started) * 1000;
  if (!response.ok || (answer.result !== undefined && answer.result.success !== true)) {
    throw new Error(`${url} answered ${JSON.stringify(answer)}`);
  }
  return micros;
}

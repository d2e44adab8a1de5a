// A server without any library. Its environment defines its tools and behaviour:
//   SMALL_NAME  its name
//   SMALL_TOOLS  the tools, as JSON: names, or tools in full
//   SMALL_PAGE  the number of tools per page of the list
//   SMALL_GATE  a file that must exist before it answers anything
//   SMALL_SIGN  a file to write before that
import { existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { SMALL_NAME: name = 'small', SMALL_GATE: gate, SMALL_SIGN: sign } = process.env;
const page = Number(process.env.SMALL_PAGE ?? 1000);
const tools = JSON.parse(process.env.SMALL_TOOLS ?? '[]').map((tool) =>
  typeof tool === 'string' ? { name: tool, inputSchema: { type: 'object', properties: {} } } : tool,
);

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name, version: '1.0.0' },
  }),
  'tools/list': ({ cursor = '0' }) => {
    const start = Number(cursor);
    const next = start + page < tools.length ? { nextCursor: String(start + page) } : {};
    return { tools: tools.slice(start, start + page), ...next };
  },
  'tools/call': (params) => ({ content: [{ type: 'text', text: `${params.name} of ${name}` }] }),
};

function answer(line) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) {
    return;
  }
  const result = methods[method]?.(params);
  const body = result === undefined ? { error: { code: -32601, message: `no ${method}` } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
}

if (sign !== undefined) {
  writeFileSync(sign, name);
}
while (gate !== undefined && !existsSync(gate)) {
  await new Promise((resolve) => setTimeout(resolve, 5));
}
createInterface({ input: process.stdin }).on('line', answer);

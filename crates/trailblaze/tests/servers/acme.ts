// A server without any library, whose author edits it. Tests replace the text between @ signs.
//   acme_say   returns the word of this version
//   acme_wait  writes the file `waiting`, and returns the word once the file `go` exists
//   acme_die   exits
import { existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const word: string = '@WORD@';
type Ask = { id?: number; method: string; params?: { name?: string; protocolVersion?: string } };

const tool = (name: string, properties: object = {}) => ({
  name,
  description: `${name} of acme`,
  inputSchema: { type: 'object', properties },
});
const tools = [tool('acme_say', {/*@PROPERTIES@*/}), tool('acme_wait'), tool('acme_die') /*@TOOLS@*/];

async function call(name: string): Promise<object> {
  if (!tools.some((tool) => tool.name === name)) {
    return { isError: true, content: [{ type: 'text', text: `no ${name}` }] };
  }
  if (name === 'acme_die') {
    process.exit(3);
  }
  if (name === 'acme_wait') {
    writeFileSync('waiting', '');
    while (!existsSync('go')) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  return { content: [{ type: 'text', text: word }] };
}

async function answer(line: string): Promise<void> {
  const { id, method, params = {} }: Ask = JSON.parse(line);
  if (id === undefined) {
    return;
  }
  const results: Record<string, () => Promise<object>> = {
    initialize: async () => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'acme', version: '1.0.0' },
    }),
    'tools/list': async () => ({ tools }),
    'tools/call': () => call(params.name ?? ''),
  };
  const result = await results[method]?.();
  const body = result === undefined ? { error: { code: -32601, message: `no ${method}` } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
}

createInterface({ input: process.stdin }).on('line', answer);

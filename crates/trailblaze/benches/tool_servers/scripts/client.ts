/** The official client, of the server that its arguments start. For each line of stdin, a number, it calls the tool that often, and prints what each call took. */

import { createInterface } from 'node:readline';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const client = new Client({ name: 'bench', version: '1.0.0' });
const [command, ...args] = process.argv.slice(2);
await client.connect(new StdioClientTransport({ command: String(command), args }));
await client.listTools();

for await (const line of createInterface({ input: process.stdin })) {
  const micros: number[] = [];
  for (let call = 0; call < Number(line); call += 1) {
    const started = performance.now();
    const answer = await client.callTool({ name: 'bench_echo', arguments: { text: 'hello', count: call } });
    micros.push((performance.now() - started) * 1000);
    if (JSON.stringify(answer.content) !== '[{"type":"text","text":"hello"}]') {
      throw new Error(`the server answered ${JSON.stringify(answer)}`);
    }
  }
  console.log(JSON.stringify(micros));
}
await client.close();

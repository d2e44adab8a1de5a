// The official TypeScript SDK, version 2. The program and its arguments are our arguments.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { use } from './use.mjs';

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'version2', version: '1' });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
await use(client, (name, args, onprogress) => client.callTool({ name, arguments: args }, { onprogress }));

// The official TypeScript SDK, version 1. The program and its arguments are our arguments.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { use } from './use.mjs';

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'version1', version: '1' });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
await use(client, (name, args, onprogress) =>
  client.callTool({ name, arguments: args }, undefined, { onprogress }));

/** The MCP server that serves the tools over stdio, to Trailblaze or to any other client. */

import { basename } from 'node:path';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type LoggingLevel,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';

import { CallContext } from './context.ts';
import { readMeta } from './envelope.ts';
import { messageOf } from './errors.ts';
import { httpClient } from './http-client.ts';
import { invoke } from './invoke.ts';
import { keepStdoutForProtocol } from './stdout.ts';
import { definedTools, type DefinedTool } from './tool.ts';

export type RunOptions = {
  /** What the server calls itself; the name of the script unless given. */
  name?: string;
  version?: string;
  /** For the model, about the server as a whole. */
  instructions?: string;
  /** Which tools; all that were defined unless given. */
  tools?: readonly DefinedTool[];
};

export type RunningServer = { close(): Promise<void> };

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** How long handlers may take to notice that the client is gone. Trailblaze itself waits five seconds. */
const LAST_MOMENT_MS = 2_000;

/** Serves the tools until the client closes stdin. */
export async function run(options: RunOptions = {}): Promise<RunningServer> {
  const protocol = keepStdoutForProtocol();
  const server = makeServer(options);
  // A promise that nobody awaits must not take the other tools down with it.
  process.on('unhandledRejection', (reason) => console.error('a promise was rejected, and nobody awaited it:', reason));
  process.stdin.once('end', () => {
    void server.close();
    setTimeout(() => process.exit(0), LAST_MOMENT_MS).unref();
  });
  await server.connect(new StdioServerTransport(process.stdin, protocol));
  return { close: () => server.close() };
}

function makeServer(options: RunOptions): Server {
  const tools = new Map((options.tools ?? definedTools()).map((tool) => [tool.name, tool]));
  const { name = nameOfScript(), version = '0.0.0', instructions } = options;
  const server = new Server(
    { name, version },
    { capabilities: { tools: {}, logging: {} }, ...(instructions === undefined ? {} : { instructions }) },
  );
  server.onerror = (error) => console.error(`${name}: ${messageOf(error)}`);
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...tools.values()].map((tool) => tool.definition),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = tools.get(params.name);
    if (tool === undefined) {
      throw new McpError(ErrorCode.InvalidParams, `unknown tool \`${params.name}\``);
    }
    const notices = new Notices(server, tool.name, extra);
    const ctx = new CallContext({
      meta: readMeta(params._meta),
      client: ({ baseUrl, id, invocationId }) =>
        httpClient({ baseUrl, sessionId: id, invocationId, signal: extra.signal }),
      signal: extra.signal,
      log: notices.log,
      progress: notices.progress,
    });
    const result = await invoke(tool, params.arguments, ctx);
    await notices.sent();
    return result;
  });
  return server;
}

/** Log lines and progress of one call, all of which leave before its answer. */
class Notices {
  readonly #server: Server;
  readonly #tool: string;
  readonly #extra: Extra;
  readonly #pending: Promise<void>[] = [];
  #step = 0;

  constructor(server: Server, tool: string, extra: Extra) {
    this.#server = server;
    this.#tool = tool;
    this.#extra = extra;
  }

  readonly log = (level: LoggingLevel, message: string): void => {
    const params = { level, logger: this.#tool, data: message };
    this.#send(this.#server.sendLoggingMessage(params, this.#extra.sessionId));
  };

  readonly progress = (text: string): void => {
    const progressToken = this.#extra._meta?.progressToken;
    if (progressToken !== undefined) {
      this.#step += 1;
      const params = { progressToken, progress: this.#step, message: text };
      this.#send(this.#extra.sendNotification({ method: 'notifications/progress', params }));
    }
  };

  async sent(): Promise<void> {
    await Promise.all(this.#pending);
  }

  /** A notice that does not arrive is no reason to fail the call. */
  #send(sending: Promise<void>): void {
    this.#pending.push(sending.catch((error: unknown) => console.error(`${this.#tool}: ${messageOf(error)}`)));
  }
}

function nameOfScript(): string {
  const script = process.env['TRAILBLAZE_TOOLSET_FILE'] ?? process.argv[1] ?? 'tools';
  return basename(script).replace(/\.[a-z]+$/, '');
}

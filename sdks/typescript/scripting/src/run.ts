/** The MCP server for the tools, over stdio or HTTP, for Trailblaze or any other client. */

import { basename } from 'node:path';
import type { Writable } from 'node:stream';

import { Server as McpServer } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  LoggingLevelSchema,
  McpError,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  type LoggingLevel,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { TrailblazeClient } from '@trailblaze/client';

import { CallContext, type ToolSession } from './context.ts';
import { readMeta } from './envelope.ts';
import { messageOf } from './errors.ts';
import { httpClient } from './http-client.ts';
import { askedPort, listen } from './http-server.ts';
import { invoke } from './invoke.ts';
import { findOutside, rememberOutside } from './outside.ts';
import { PROCESS_RUNTIME, watchFailures, watchProcesses, watchRequests, watchTimers } from './process-runtime.ts';
import { ServerOfTools } from './server.ts';
import type { RunningServer, RunOptions, ServedResource, ServeOptions } from './serving.ts';
import { keepStdoutForProtocol } from './stdout.ts';
import { definedTools, usePlaces, type DefinedTool } from './tool.ts';
import type { TrailblazeTool } from './tool-meta.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** How long handlers have to finish after the client has gone. Trailblaze itself waits five seconds. */
const LAST_MOMENT_MS = 2_000;

usePlaces((stack) => PROCESS_RUNTIME.placeOf(stack));

/** Serves the tools. Over stdio, and over HTTP if Trailblaze started the server, it stops when stdin ends. */
export function run(options: RunOptions = {}): Promise<RunningServer> {
  return serve(options);
}

/** A server of tools with a list of its own. */
export class Server extends ServerOfTools {
  run(options?: Pick<RunOptions, 'args'>): Promise<RunningServer> {
    return serve(this.served(options));
  }
}

async function serve(options: ServeOptions): Promise<RunningServer> {
  const port = askedPort(options.args ?? process.argv.slice(2));
  // Output of handlers goes to the log, even if stdout is not used for the protocol.
  const protocol = keepStdoutForProtocol();
  watchFailures();
  watchTimers();
  watchProcesses();
  watchRequests();
  try {
    return await (port === undefined ? serveStdio(options, protocol) : serveHttp(options, port));
  } catch (error) {
    // The listener above would hide it if nobody awaits the result.
    process.exitCode = 1;
    throw error;
  }
}

async function serveStdio(options: ServeOptions, protocol: Writable): Promise<RunningServer> {
  const server = makeServer(options);
  endWithStdin(() => server.close());
  await server.connect(new StdioServerTransport(process.stdin, protocol));
  return { close: () => server.close() };
}

async function serveHttp(options: ServeOptions, port: number): Promise<RunningServer> {
  const listening = await listen(port, () => makeServer(options));
  console.error(`listening on ${listening.address}`);
  // If it was started by hand or by a service manager, it may have no stdin.
  if (process.env['TRAILBLAZE_BASE_URL'] !== undefined) {
    endWithStdin(() => listening.close());
    process.stdin.resume();
  }
  return { close: () => listening.close() };
}

function endWithStdin(close: () => Promise<void>): void {
  process.stdin.once('end', () => {
    void close();
    setTimeout(() => process.exit(0), LAST_MOMENT_MS).unref();
  });
}

function makeServer(options: ServeOptions): McpServer {
  const tools = new Map((options.tools ?? definedTools()).map((tool) => [tool.name, tool]));
  const { name = nameOfScript(), version = '0.0.0', instructions, resources = [] } = options;
  const capabilities = { tools: {}, logging: {}, ...(resources.length === 0 ? {} : { resources: {} }) };
  const server = new McpServer({ name, version }, { capabilities, ...(instructions === undefined ? {} : { instructions }) });
  // The SDK's `sendLoggingMessage` does not relate a message to its request, and over HTTP it may get lost.
  let lowest = 0;
  server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
    lowest = severity(params.level);
    return {};
  });
  server.onerror = (error) => console.error(`${name}: ${messageOf(error)}`);
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...tools.values()].map(listed),
  }));
  if (resources.length > 0) {
    serveResources(server, resources);
  }
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = tools.get(params.name);
    if (tool === undefined) {
      throw new McpError(ErrorCode.InvalidParams, `unknown tool \`${params.name}\``);
    }
    const notices = new Notices(tool.name, extra, server, (level) => severity(level) >= lowest);
    const { signal } = extra;
    const { log, progress, warnLate } = notices;
    const common = { raw: params._meta, signal, log, progress, warnLate, runtime: PROCESS_RUNTIME };
    const commands = () => TrailblazeClient.fromContext(ctx);
    const client = (session: () => ToolSession) => {
      const { baseUrl, id, invocationId } = session();
      return httpClient({ baseUrl, sessionId: id, invocationId, signal });
    };
    const meta = readMeta(params._meta);
    const found = meta === undefined ? await findOutside(signal) : undefined;
    const outside = found !== undefined && 'commands' in found ? found : undefined;
    const ctx: CallContext =
      outside === undefined
        ? new CallContext({ ...common, meta, commands, client, problem: found !== undefined && 'problem' in found ? found.problem : undefined })
        : new CallContext({ ...common, meta: outside.meta, isOutside: true, commands: () => outside.commands, client: () => outside.client });
    const result = await invoke(tool, params.arguments, ctx);
    await notices.sent();
    return outside === undefined ? result : rememberOutside(outside, result);
  });
  return server;
}

/** A tool as it is listed; for Trailblaze, with the line of its definition, which messages name. */
function listed({ definition, definedAt }: DefinedTool): TrailblazeTool {
  const place = process.env['TRAILBLAZE_BASE_URL'] === undefined ? undefined : PROCESS_RUNTIME.placeOf(definedAt);
  return place === undefined ? definition : { ...definition, _meta: { ...definition._meta, 'trailblaze/definedAt': place } };
}

function serveResources(server: McpServer, resources: readonly ServedResource[]): void {
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: resources.map(({ uri }) => ({ uri, name: uri, mimeType: 'application/json' })),
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params }) => {
    const resource = resources.find(({ uri }) => uri === params.uri);
    if (resource === undefined) {
      throw new McpError(ErrorCode.InvalidParams, `unknown resource \`${params.uri}\``);
    }
    return { contents: [{ uri: resource.uri, mimeType: 'application/json', text: await resource.read() }] };
  });
}

/** Log lines and progress of one call, all sent before its result. */
class Notices {
  readonly #tool: string;
  readonly #extra: Extra;
  readonly #server: McpServer;
  readonly #isWanted: (level: LoggingLevel) => boolean;
  readonly #pending: Promise<void>[] = [];
  #step = 0;

  constructor(tool: string, extra: Extra, server: McpServer, isWanted: (level: LoggingLevel) => boolean) {
    this.#tool = tool;
    this.#extra = extra;
    this.#server = server;
    this.#isWanted = isWanted;
  }

  readonly log = (level: LoggingLevel, message: string, isDoubt = false): void => {
    if (isDoubt || this.#isWanted(level)) {
      const params = this.#message(level, message, isDoubt);
      this.#send(this.#extra.sendNotification({ method: 'notifications/message', params }));
    }
  };

  /** A failure after the call has ended. Over HTTP, the response to the call cannot carry it any more. */
  readonly warnLate = (message: string): void => {
    console.error(message);
    const { _meta, ...params } = this.#message('error', message);
    const call = readMeta(this.#extra._meta)?.invocationId;
    const about = { ..._meta, ...(call === undefined ? {} : { trailblazeFailedCall: call }) };
    this.#send(this.#server.notification({ method: 'notifications/message', params: { ...params, _meta: about } }));
  };

  #message(level: LoggingLevel, data: string, isDoubt = false) {
    const progressToken = this.#extra._meta?.progressToken;
    // The protocol has no place for the call that a message belongs to.
    const call = progressToken === undefined ? {} : { progressToken };
    const about = isDoubt ? { ...call, trailblazeDoubt: true } : call;
    return { level, logger: this.#tool, data, ...(Object.keys(about).length === 0 ? {} : { _meta: about }) };
  }

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

  /** A notification that cannot be sent does not fail the call. */
  #send(sending: Promise<void>): void {
    this.#pending.push(sending.catch((error: unknown) => console.error(`${this.#tool}: ${messageOf(error)}`)));
  }
}

function severity(level: LoggingLevel): number {
  return LoggingLevelSchema.options.indexOf(level);
}

function nameOfScript(): string {
  const script = process.env['TRAILBLAZE_TOOLSET_FILE'] ?? process.argv[1] ?? 'tools';
  return basename(script).replace(/\.[a-z]+$/, '');
}

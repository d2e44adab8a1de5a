/** The MCP server for the tools, over stdio or HTTP, for Trailblaze or any other client. */
import { ServerOfTools } from './server.ts';
import type { RunningServer, RunOptions } from './serving.ts';
/** Serves the tools. Over stdio, and over HTTP if Trailblaze started the server, it stops when stdin ends. */
export declare function run(options?: RunOptions): Promise<RunningServer>;
/** A server of tools with a list of its own. */
export declare class Server extends ServerOfTools {
    run(options?: Pick<RunOptions, 'args'>): Promise<RunningServer>;
}

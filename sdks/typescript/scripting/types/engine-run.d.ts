/** Serves the tools in Trailblaze's script engine, which this code runs in. */
import { ServerOfTools } from './server.ts';
import type { RunningServer, RunOptions } from './serving.ts';
/** Serves the tools. What concerns the process, such as `args`, has no meaning here. */
export declare function run(options?: RunOptions): Promise<RunningServer>;
/** A server of tools with a list of its own. */
export declare class Server extends ServerOfTools {
    run(options?: Pick<RunOptions, 'args'>): Promise<RunningServer>;
}

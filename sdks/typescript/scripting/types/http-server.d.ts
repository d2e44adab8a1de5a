/** Serves the tools over HTTP, so that one process serves several devices. Accepts only programs on this machine. */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
export type Listening = {
    address: string;
    close(): Promise<void>;
};
/**
 * The port of `--transport http --port N`; undefined means stdio. Trailblaze starts a server with these arguments when several
 * devices share it.
 */
export declare function askedPort(args: readonly string[]): number | undefined;
/** Serves until it is closed. Each client session gets its own server from `makeServer`. */
export declare function listen(port: number, makeServer: () => Server): Promise<Listening>;

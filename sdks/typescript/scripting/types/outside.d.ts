/** The session of this user's daemon, for a call that Trailblaze did not make: an agent started the server by itself. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { TrailblazeClient } from '@trailblaze/client';
import type { AnyToolClient } from './context.ts';
import { type ReceivedMeta } from './envelope.ts';
export type Outside = {
    /** What Trailblaze would have sent with the call. */
    meta: ReceivedMeta;
    commands: TrailblazeClient;
    client: AnyToolClient;
};
/** The session, or why there is none to use. */
export declare function findOutside(signal: AbortSignal): Promise<Outside | {
    problem: string;
}>;
/** Remembers what a result says, as Trailblaze does for the calls that it makes. */
export declare function rememberOutside({ commands }: Outside, result: CallToolResult): Promise<CallToolResult>;

/**
 * HTTP to Trailblaze, for this package and @trailblaze/scripting. Not `fetch`, because Bun's sends even requests to this machine
 * through the proxy of HTTP_PROXY; an agent of our own keeps Node from doing so.
 *
 * Connections are kept and reused. A request is sent a second time in one case only: it was written to a kept connection, and
 * that connection closed before a single byte of a response. That is what a server does that closed the idle connection at the
 * same moment, without having read the request.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import { TrailblazeError } from './errors.ts';
/** Trailblaze's own limit for a call, with or without progress. */
export declare const LONGEST_CALL_MS = 600000;
/** Longer than Trailblaze's own limit, so that its response, which has the reason, arrives first. */
export declare const DEFAULT_DEADLINE_MS: number;
/** More than the largest screen with a picture. */
export declare const MAX_RESPONSE_BYTES: number;
export type Outgoing = {
    headers: OutgoingHttpHeaders;
    body: Uint8Array;
    signal?: AbortSignal | undefined;
    /** Throws `deadline_exceeded` after this time. Default for a stream: none. */
    deadlineMs?: number | undefined;
    /** Throws `resource_exhausted` for a larger response. Default: 64 MiB. */
    maxBytes?: number | undefined;
};
export type Reply = {
    status: number;
    contentType: string;
    text: string;
};
/** Reads an address such as `localhost:52525` or `http://127.0.0.1:52525/`. Returns it without a slash at the end. */
export declare function parseAddress(address: string): string;
/** Sends a request and reads the whole response, whatever its status. */
export declare function post(address: string, outgoing: Outgoing): Promise<Reply>;
export type Opened = {
    reply: Reply;
} | {
    chunks: AsyncGenerator<Buffer, void, void>;
};
/** Sends a request and returns the parts of a response with this content type as they arrive; any other is read to its end. */
export declare function open(address: string, contentType: string, outgoing: Outgoing): Promise<Opened>;
export declare function isUnreachable(error: unknown): boolean;
export declare function brokenOff(address: string, cause?: unknown): TrailblazeError;

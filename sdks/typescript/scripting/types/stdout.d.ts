/** Stdout is reserved for the protocol: one stray line from a handler would break the connection. */
import { Writable } from 'node:stream';
/** Redirects everything that is printed to stderr, and returns a stream for the real stdout. */
export declare function keepStdoutForProtocol(): Writable;

/** Finds the session of a client that was told nothing: in this user's daemon, by the file that has its address and key. */
import { type Transport } from './connect.ts';
import { type CallOptions, type Json } from './method.ts';
/** What stands for the address of Trailblaze until the session is found. */
export declare const DAEMON_ADDRESS = "trailblaze:daemon";
/** Looks for the session with the first call. If there is none, the next call looks again. */
export declare class DaemonTransport implements Transport {
    #private;
    unary(path: string, request: Json, options: CallOptions): Promise<unknown>;
    stream(path: string, request: Json, options: CallOptions): AsyncGenerator<unknown, void, void>;
}

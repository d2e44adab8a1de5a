/** The Connect protocol, with JSON, over our transport. */
import { type CallOptions, type Json } from './method.ts';
/** How requests reach Trailblaze. A test can have one that needs no server. */
export interface Transport {
    unary(path: string, request: Json, options: CallOptions): Promise<unknown>;
    stream(path: string, request: Json, options: CallOptions): AsyncIterable<unknown>;
}
export declare class HttpTransport implements Transport {
    #private;
    constructor(baseUrl: string, key: string | undefined);
    unary(path: string, request: Json, options: CallOptions): Promise<unknown>;
    stream(path: string, request: Json, options: CallOptions): AsyncGenerator<unknown, void, void>;
}

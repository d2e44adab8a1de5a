/** `client.callTool` over HTTP. */
import type { AnyToolClient } from './context.ts';
export type Endpoint = {
    baseUrl: string;
    sessionId: string;
    invocationId: string;
    signal: AbortSignal;
};
export declare function httpClient(endpoint: Endpoint): AnyToolClient;

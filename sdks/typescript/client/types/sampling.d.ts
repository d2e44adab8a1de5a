/** Asks the model of Trailblaze in the words of MCP's sampling. */
import type { AskModelParams, ModelReply } from './generated.ts';
import { type CallOptions } from './method.ts';
export type SamplingMessage = {
    readonly role?: 'user' | 'assistant';
    readonly content: unknown;
};
export type SamplingParams = {
    /** The conversation, as `{role: 'user', content: '…'}`; the content is a text, or text blocks of MCP. */
    messages: readonly SamplingMessage[];
    /** Also send the current screenshot. */
    includeScreenshot?: boolean | undefined;
    maxTokens?: number | undefined;
    /** What the model is told first. */
    systemPrompt?: string | undefined;
};
export type SamplingReply = {
    readonly content: string;
    readonly model: string;
};
export declare class Sampling {
    #private;
    constructor(ask: (params: AskModelParams, options?: CallOptions) => Promise<ModelReply>);
    /** Asks the model. Throws `failed_precondition` if there is none, or the server may not use it. */
    createMessage(params: SamplingParams, options?: CallOptions): Promise<SamplingReply>;
}

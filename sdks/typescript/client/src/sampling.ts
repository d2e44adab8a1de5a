/** Asks the model of Trailblaze in the words of MCP's sampling. */

import { TrailblazeError } from './errors.ts';
import type { AskModelParams, ModelReply } from './generated.ts';
import { isRecord, type CallOptions } from './method.ts';

export type SamplingMessage = { readonly role?: 'user' | 'assistant'; readonly content: unknown };

export type SamplingParams = {
  /** The conversation, as `{role: 'user', content: '…'}`; the content is a text, or text blocks of MCP. */
  messages: readonly SamplingMessage[];
  /** Also send the current screenshot. */
  includeScreenshot?: boolean | undefined;
  maxTokens?: number | undefined;
  /** What the model is told first. */
  systemPrompt?: string | undefined;
};

export type SamplingReply = { readonly content: string; readonly model: string };

export class Sampling {
  readonly #ask: (params: AskModelParams, options?: CallOptions) => Promise<ModelReply>;

  constructor(ask: (params: AskModelParams, options?: CallOptions) => Promise<ModelReply>) {
    this.#ask = ask;
  }

  /** Asks the model. Throws `failed_precondition` if there is none, or the server may not use it. */
  async createMessage(params: SamplingParams, options?: CallOptions): Promise<SamplingReply> {
    const { messages, includeScreenshot: screen = false, maxTokens, systemPrompt: system } = params;
    const { text, model } = await this.#ask({ prompt: promptOf(messages), screen, maxTokens, system }, options);
    return { content: text, model };
  }
}

function promptOf(messages: readonly SamplingMessage[]): string {
  const texts = messages.map(({ role = 'user', content }) => ({ role, text: textOf(content) }));
  const [first] = texts;
  return texts.length === 1 && first !== undefined ? first.text : texts.map(({ role, text }) => `${role}: ${text}`).join('\n\n');
}

function textOf(content: unknown): string {
  const blocks = Array.isArray(content) ? content : [content];
  const texts = blocks.map((block: unknown) => (isRecord(block) ? block['text'] : block));
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) {
    throw new TrailblazeError(
      'invalid_argument',
      'the `content` of a message must be text; `includeScreenshot: true` sends the screen',
    );
  }
  return texts.join('\n');
}

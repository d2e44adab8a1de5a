/** Tools of @trailblaze/scripting that ask a model, with a client and with the context. */

import { TrailblazeClient } from '@trailblaze/client';
import { run, tool } from '@trailblaze/scripting';

tool('asks_llm', { description: 'Ask about the screen.' }, async (_args, ctx) => {
  const meta = ctx._meta?.['trailblaze'] as { capabilities: { sampling: boolean } };
  const reply = await TrailblazeClient.fromContext(ctx).askLlm('Is the button green?', true);
  return `${meta.capabilities.sampling} ${reply.model}: ${reply.text}`;
});

tool('asks_message', { description: 'Ask in the words of MCP.' }, async (_args, { askLlm, sampling }) => {
  const messages = [{ role: 'user' as const, content: 'Is it late?' }];
  const { content } = await sampling.createMessage({ messages, systemPrompt: 'Be brief.', maxTokens: 7 });
  const { text } = await askLlm('Sure?');
  return `${content} ${text}`;
});

run();

/** Tools for every result of a call: memory, delegates, pictures, progress, log messages, callbacks. */

import { writeFileSync } from 'node:fs';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';

type Meta = { baseUrl: string; sessionId: string; invocationId: string; device: { id: string }; memory: Record<string, unknown> };
type Call = { args: Record<string, any>; meta: Meta; token: unknown; signal: AbortSignal; notify: (method: string, params: object) => Promise<void> };
type Tool = { meta?: Record<string, unknown>; input?: Record<string, object>; call: (call: Call) => CallToolResult | Promise<CallToolResult> };

const delegating = { 'trailblaze/isDelegating': true };
const taps = { _trailblaze_delegates: [1, 2].map(() => ({ tool: 'tap', args: { id: 'add' } })) };
/** A picture of one pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const tools: Record<string, Tool> = {
  call_remember: { call: ({ args }) => ({ ...text('remembered'), ...own({ memoryDelta: args }) }) },
  call_rememberDevice: { call: ({ meta }) => ({ ...text('remembered'), ...own({ memoryDelta: { who: meta.device.id } }) }) },
  call_forget: { call: ({ args }) => ({ ...text('forgotten'), ...own({ memoryDeletions: [args['name']] }) }) },
  call_rememberAndFail: {
    call: ({ args }) => ({ ...text('no'), isError: true, ...own({ memoryDelta: args, variant: args['variant'] }) }),
  },
  call_recall: { call: ({ args, meta }) => text(JSON.stringify(meta.memory[args['name']] ?? null)) },

  call_delegate: { meta: delegating, call: () => ({ ...text('two taps'), structuredContent: taps }) },
  call_delegateInText: { meta: delegating, call: () => text(JSON.stringify(taps)) },
  call_readPage: { call: () => text(JSON.stringify(taps)) },
  call_delegateAndAct: {
    meta: delegating,
    call: async ({ meta }) => {
      const seen = await callBack(meta, 'getElementText', { id: 'count' });
      const acted = await callBack(meta, 'tap', { id: 'add' });
      return { ...text(`${said(seen)}; ${said(acted)}`), structuredContent: taps };
    },
  },
  call_work: {
    call: async ({ meta }) => {
      await callBack(meta, 'tap', { id: 'add' });
      await callBack(meta, 'call_delegate', {});
      return text(said(await callBack(meta, 'getElementText', { id: 'count' })));
    },
  },
  call_type: {
    call: async ({ args, meta }) => {
      console.error(`asked to type ${args['text']}`);
      await callBack(meta, 'tap', { id: 'name' });
      await callBack(meta, 'inputText', { text: args['text'] });
      return text(`typed ${args['text']}`);
    },
  },
  call_doublePart: {
    input: { n: { type: 'integer' } },
    call: async ({ args }) => {
      // Answers are returned in another order than the calls.
      await new Promise((resolve) => setTimeout(resolve, (args['n'] * 7) % 20));
      return text(String(args['n'] * 2));
    },
  },
  call_many: {
    input: { n: { type: 'integer' } },
    call: async ({ args, meta }) => {
      const numbers = Array.from({ length: args['n'] }, (_, n) => n);
      const answers = await Promise.all(numbers.map((n) => callBack(meta, 'call_doublePart', { n })));
      const crooked = numbers.filter((n) => said(answers[n]) !== String(n * 2));
      return text(`${answers.length} answers, ${crooked.length} crooked`);
    },
  },
  call_device: { call: ({ meta }) => text(meta.device.id) },
  call_count: {
    call: async ({ meta }) => {
      await callBack(meta, 'tap', { id: 'add' });
      return text(`${meta.device.id} ${said(await callBack(meta, 'getElementText', { id: 'count' }))}`);
    },
  },

  call_picture: {
    call: () => ({
      content: [
        { type: 'image', data: pixel, mimeType: 'image/png' },
        { type: 'text', text: 'a pixel' },
        { type: 'text', text: 'and more' },
      ],
      structuredContent: { width: 1 },
    }),
  },
  call_progress: {
    call: async ({ token, notify }) => {
      for (const progress of [1, 2]) {
        await notify('notifications/progress', { progressToken: token, progress, total: 2, message: `part ${progress}` });
      }
      return text('done');
    },
  },
  call_log: {
    call: async ({ notify }) => {
      for (const level of ['debug', 'info', 'notice', 'warning', 'error', 'emergency']) {
        await notify('notifications/message', { level, data: `a word of ${level}` });
      }
      return text('logged');
    },
  },
  call_wait: {
    call: ({ signal }) => {
      writeFileSync('waiting', '');
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          writeFileSync('called-off', String(signal.reason));
          resolve(text('given up'));
        });
      });
    },
  },
};

const server = new Server({ name: 'calls', version: '1.0.0' }, { capabilities: { tools: {}, logging: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.entries(tools).map(([name, { meta = {}, input = {} }]) => ({
    name,
    inputSchema: { type: 'object' as const, properties: input },
    _meta: meta,
  })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
  const { _trailblazeContext, ...args } = params.arguments ?? {};
  const meta = params._meta?.['trailblaze'] as Meta;
  const notify = (method: string, params: object) => extra.sendNotification({ method, params } as never);
  return tools[params.name]!.call({ args, meta, token: params._meta?.progressToken, signal: extra.signal, notify });
});
await server.connect(new StdioServerTransport());

async function callBack(meta: Meta, tool: string, args: object): Promise<any> {
  const response = await fetch(`${meta.baseUrl}/scripting/callback`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      version: 1,
      session_id: meta.sessionId,
      invocation_id: meta.invocationId,
      action: { type: 'call_tool', tool_name: tool, arguments_json: JSON.stringify(args) },
    }),
  });
  return ((await response.json()) as { result: unknown }).result;
}

function said(result: any): string {
  return result.type === 'error' ? result.message : result.success ? result.textContent : result.errorMessage;
}

function text(words: string): CallToolResult {
  return { content: [{ type: 'text', text: words }] };
}

function own(trailblaze: object): { _meta: { trailblaze: object } } {
  return { _meta: { trailblaze } };
}

/** A client for unit tests, without Trailblaze: the test answers its calls. */

import { BUILT_IN_TOOLS } from './generated-tools.ts';
import { TrailblazeClient, type ClientOptions } from './client.ts';
import type { Transport } from './connect.ts';
import { messageOf, TrailblazeError } from './errors.ts';
import {
  GROUPS,
  TRAILBLAZE_COMMANDS,
  TRAILBLAZE_MEMORY,
  TRAILBLAZE_SESSION,
  type Element,
  type ScreenState,
} from './generated.ts';
import { isRecord, withElements, type Json, type MethodSpec } from './method.ts';
import { unknownName } from './names.ts';

export { misspelled } from './names.ts';

/**
 * Answers a call: `name` is that of the method, such as `isVisible`. Returns what the method returns; for an action or assertion
 * nothing, or its message. A boolean or number may be a text, as the tool of the same name returns it. If it throws, the action or
 * assertion has failed.
 */
export type Answer = (name: string, params: Record<string, unknown>) => unknown;

const METHODS = new Map<string, MethodSpec>(
  [TRAILBLAZE_COMMANDS, TRAILBLAZE_MEMORY, TRAILBLAZE_SESSION, ...Object.values(GROUPS).map(({ methods }) => methods)]
    .flatMap((methods): MethodSpec[] => Object.values(methods))
    .map((spec) => [spec.path, spec]),
);

/** What an argument of a built-in tool accepts: a type of JSON Schema, words such as `UP|DOWN`, or anything. */
type Argument = { readonly isRequired: boolean; readonly accepted: string };

/** The arguments of each built-in tool. */
const TOOL_ARGUMENTS = new Map<string, Map<string, Argument>>(
  BUILT_IN_TOOLS.trim()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([tool = '', ...args]) => [tool, new Map(args.map(readArgument))]),
);

function readArgument(arg: string): [string, Argument] {
  const [name = '', accepted = ''] = arg.split(':');
  return [name.replace('!', ''), { isRequired: name.endsWith('!'), accepted }];
}

const IS_OF_TYPE: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  object: isRecord,
  array: Array.isArray,
};

/** Why Trailblaze would refuse a value. What is not given may be null. */
function wrongValue(name: string, value: unknown, { accepted }: Argument): string | undefined {
  if (value === undefined || value === null || accepted === '') {
    return undefined;
  }
  const isOfType = IS_OF_TYPE[accepted];
  if (isOfType !== undefined) {
    return isOfType(value) ? undefined : `\`${name}\`: ${JSON.stringify(value)} is not of type "${accepted}"`;
  }
  const words = accepted.split('|');
  const isWord = words.some((word) => typeof value === 'string' && word.toLowerCase() === value.toLowerCase());
  return isWord ? undefined : `\`${name}\`: ${JSON.stringify(value)} is not one of ${words.map((word) => `"${word}"`).join(', ')}`;
}

/** Why Trailblaze would refuse a call of a built-in tool: the names and types of its arguments. Other tools are not known here. */
export function refusalOf(tool: string, args: Readonly<Record<string, unknown>>): string | undefined {
  const known = TOOL_ARGUMENTS.get(tool);
  if (known === undefined) {
    return undefined;
  }
  const missing = [...known].filter(([name, { isRequired }]) => isRequired && args[name] == null);
  const unknown = Object.keys(args).filter((name) => !known.has(name));
  const problems = [
    ...missing.map(([name]) => `missing argument \`${name}\``),
    ...unknown.map((name) => unknownName('argument', name, [...known.keys()])),
    ...[...known].flatMap(([name, argument]) => wrongValue(name, args[name], argument) ?? []),
  ];
  return problems.length === 0 ? undefined : `\`${tool}\`: ${problems.join('; ')}`;
}

export function fakeClient(answer: Answer, options: Omit<ClientOptions, 'transport'> = {}): TrailblazeClient {
  const transport: Transport = {
    unary: async (path, request, { signal }) => {
      signal?.throwIfAborted();
      const spec = METHODS.get(path);
      if (spec === undefined) {
        throw new TrailblazeError('unimplemented', `there is no method ${path}`);
      }
      return toMessage(spec, answer, paramsOf(request));
    },
    async *stream(path, request, { signal }) {
      signal?.throwIfAborted();
      const answered = await answer(METHODS.get(path)?.name ?? path, paramsOf(request));
      yield* answered as AsyncIterable<unknown>;
    },
  };
  return new TrailblazeClient({ ...options, transport });
}

/** Through JSON, as in a real call. */
function paramsOf(request: Json): Record<string, unknown> {
  const { deviceId: _d, sessionId: _s, invocationId: _i, ...params } = request;
  return JSON.parse(JSON.stringify(params)) as Record<string, unknown>;
}

async function toMessage(spec: MethodSpec, answer: Answer, params: Record<string, unknown>): Promise<unknown> {
  if (spec.answer === 'value') {
    const value = await answer(spec.name, params);
    const isText = typeof value === 'string' && ['boolean', 'number'].includes(typeof spec.zero);
    return { value: isText ? (JSON.parse(value) as unknown) : value };
  }
  if (spec.answer === 'message') {
    return answer(spec.name, params);
  }
  try {
    const answered = await answer(spec.name, params);
    const result = { success: true, message: typeof answered === 'string' ? answered : '', variant: '' };
    return isRecord(answered) ? { ...result, ...answered } : result;
  } catch (thrown) {
    if (thrown instanceof TrailblazeError && !('variant' in thrown)) {
      throw thrown;
    }
    const variant = spec.answer === 'assertion' ? 'AssertionFailed' : 'ExceptionThrown';
    const own = isRecord(thrown) && typeof thrown['variant'] === 'string' ? thrown['variant'] : variant;
    return { success: false, message: messageOf(thrown), variant: own };
  }
}

/** An element of a fake screen: its text, or what it should have. */
export type FakeElement = string | (Omit<Partial<Element>, 'children'> & { readonly children?: readonly FakeElement[] });

const WIDTH = 1080;
const HEIGHT = 2400;
const ROW = 100;

/**
 * A screen with these elements, from top to bottom, as the fake of `captureScreen` returns it:
 * `fakeContext({ tools: { captureScreen: () => fakeScreen('Email', { role: 'button', text: 'Sign in', id: 'go' }) } })`
 */
export function fakeScreen(...elements: FakeElement[]): ScreenState {
  let row = 0;
  const build = (element: FakeElement): Element => {
    const { children = [], ...own } = typeof element === 'string' ? { text: element } : element;
    const bounds = { left: 0, top: row * ROW, right: WIDTH, bottom: (row + 1) * ROW };
    row += 1;
    const role = children.length > 0 ? 'group' : 'text';
    const plain = { role, enabled: true, selected: false, focused: false, clipped: false, bounds };
    return { ...plain, ...own, children: children.map(build) };
  };
  const bounds = { left: 0, top: 0, right: WIDTH, bottom: HEIGHT };
  const plain = { enabled: true, selected: false, focused: false, clipped: false };
  const root: Element = { role: 'screen', ...plain, bounds, children: elements.map(build) };
  return withElements({ platform: 'android', width: WIDTH, height: HEIGHT, root }) as unknown as ScreenState;
}

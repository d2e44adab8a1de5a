/** What a client knows about its caller, from the places where Trailblaze puts it. */

import { isRecord } from './method.ts';

/** Where a client connects, and which call, session and device its calls belong to. */
export type Identity = {
  baseUrl?: string;
  invocationId?: string;
  sessionId?: string;
  deviceId?: string;
  platform?: string;
};

/**
 * Reads the context of a request handler: of both generations of the official MCP SDK, of @trailblaze/scripting, or the request
 * or its `_meta` itself. Undefined if the call did not come from Trailblaze.
 */
export function identityOf(context: unknown): Identity | undefined {
  for (const meta of metas(context)) {
    const trailblaze = isRecord(meta['trailblaze']) ? meta['trailblaze'] : undefined;
    const invocationId = text(trailblaze?.['invocationId']) ?? text(meta['trailblazeInvocationId']);
    if (trailblaze === undefined && invocationId === undefined) {
      continue;
    }
    const device = isRecord(trailblaze?.['device']) ? trailblaze['device'] : {};
    return compact({
      baseUrl: text(trailblaze?.['baseUrl']),
      invocationId,
      sessionId: text(trailblaze?.['sessionId']),
      deviceId: text(device['id']),
      platform: text(device['platform'])?.toLowerCase(),
    });
  }
  return undefined;
}

/** The cancellation of a request handler. */
export function signalOf(context: unknown): AbortSignal | undefined {
  const found = [at(context, 'signal'), at(context, 'mcpReq', 'signal')];
  return found.find((signal): signal is AbortSignal => signal instanceof AbortSignal);
}

/** A call that is about to be made: what it calls, and whether that is a query, which only answers. */
export type AboutCall = { readonly name: string; readonly isQuery?: boolean };

/** Is given a call before it is made; makes it, or refuses to, and returns what its caller gets. */
export type Track = <T>(make: () => Promise<T>, about: AboutCall) => Promise<T>;

/** How the context of @trailblaze/scripting follows the calls of a handler. */
export function trackOf(context: unknown): Track | undefined {
  const found = at(context, 'track');
  return typeof found === 'function' ? (found as Track) : undefined;
}

/** Reads the argument `_trailblaze` of a tool. */
export function identityOfArgument(argument: unknown): Identity {
  const found = isRecord(argument) ? argument : {};
  return compact({
    baseUrl: text(found['baseUrl']),
    invocationId: text(found['invocationId']),
    sessionId: text(found['sessionId']),
    deviceId: text(found['deviceId']),
    platform: text(found['platform'])?.toLowerCase(),
  });
}

function metas(context: unknown): Readonly<Record<string, unknown>>[] {
  const places = [
    at(context, '_meta'),
    at(context, 'mcpReq', '_meta'),
    at(context, 'params', '_meta'),
    at(context, 'request', 'params', '_meta'),
    context,
  ];
  return places.filter(isRecord);
}

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((found, key) => (isRecord(found) ? found[key] : undefined), value);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function compact(identity: { [Key in keyof Identity]: Identity[Key] | undefined }): Identity {
  return Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined));
}

/** Metadata of a tool for Trailblaze: flags in code, `trailblaze/*` keys on the wire. */

import type { Tool } from '@modelcontextprotocol/sdk/types.js';

export type SupportedPlatform = 'ANDROID' | 'IOS' | 'WEB' | 'DESKTOP';

/** All are optional; each comment ends with the default. */
export type ToolFlags = {
  /** Whether models are offered the tool; trails can always call it. Default: true. */
  isForLlm?: boolean;
  /** Whether its calls are recorded. Default: true. */
  isRecordable?: boolean;
  /** Whether it returns calls that Trailblaze makes instead. Default: false. */
  isDelegating?: boolean;
  /** Whether it is unavailable if the agent runs on the device. Default: false. */
  requiresHost?: boolean;
  /** The driver keys that it works with. Default: all. */
  supportedDrivers?: readonly string[];
  /** The platforms that it works on. Default: all. */
  supportedPlatforms?: readonly SupportedPlatform[];
  /** The toolset that it joins. Default: none. */
  toolset?: string;
  /** The groups that it belongs to. Default: none. */
  groups?: readonly string[];
  /** Whether it is useless to other MCP clients. Informational; nothing is filtered by it. Default: false. */
  requiresContext?: boolean;
};

/**
 * `_meta` of a tool. Keys of other vendors need a prefix with a dot, as in `com.example/key`, so that a misspelt
 * `trailblaze/` key is a type error.
 */
export type TrailblazeToolMeta = {
  [Key in keyof ToolFlags as `trailblaze/${Key}`]?: ToolFlags[Key];
} & {
  /** The file and line of its definition, which this package adds. */
  'trailblaze/definedAt'?: string;
} & {
  [key: `${string}.${string}/${string}`]: unknown;
};

/** An MCP tool whose `_meta` is checked. */
export type TrailblazeTool = Omit<Tool, '_meta'> & { _meta?: TrailblazeToolMeta };

const FLAGS: { [Flag in keyof Required<ToolFlags>]: true } = {
  isForLlm: true,
  isRecordable: true,
  isDelegating: true,
  requiresHost: true,
  supportedDrivers: true,
  supportedPlatforms: true,
  toolset: true,
  groups: true,
  requiresContext: true,
};

/** Converts the given flags to `_meta` keys. */
export function toMeta(flags: ToolFlags): TrailblazeToolMeta {
  const names = Object.keys(FLAGS) as (keyof ToolFlags)[];
  const given = names.filter((name) => flags[name] !== undefined);
  return Object.fromEntries(given.map((name) => [`trailblaze/${name}`, flags[name]]));
}

/** What Trailblaze can be told about a tool: flags in code, `trailblaze/*` keys on the wire. */

import type { Tool } from '@modelcontextprotocol/sdk/types.js';

export type SupportedPlatform = 'ANDROID' | 'IOS' | 'WEB' | 'DESKTOP';

/** All optional. What is not said has the meaning that each line names. */
export type ToolFlags = {
  /** Whether models are offered the tool; trails can call it either way. True. */
  isForLlm?: boolean;
  /** Whether calls of it are recorded. True. */
  isRecordable?: boolean;
  /** Whether it answers with calls for Trailblaze to make in its place. False. */
  isDelegating?: boolean;
  /** Whether it is left out where the agent lives on the device. False. */
  requiresHost?: boolean;
  /** Driver keys that it works with. All. */
  supportedDrivers?: readonly string[];
  /** Platforms that it works on. All. */
  supportedPlatforms?: readonly SupportedPlatform[];
  /** The toolset that it joins. None. */
  toolset?: string;
  /** The groups that it belongs to. None. */
  groups?: readonly string[];
  /** Whether it is of no use to other MCP clients. A remark only: nothing is filtered by it. False. */
  requiresContext?: boolean;
};

/**
 * `_meta` of a tool. Keys of other vendors are welcome when their prefix has a dot, as in `com.example/key`: so a
 * misspelt `trailblaze/` key is an error of types.
 */
export type TrailblazeToolMeta = {
  [Key in keyof ToolFlags as `trailblaze/${Key}`]?: ToolFlags[Key];
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

/** The keys of the wire for the flags that are given. */
export function toMeta(flags: ToolFlags): TrailblazeToolMeta {
  const names = Object.keys(FLAGS) as (keyof ToolFlags)[];
  const given = names.filter((name) => flags[name] !== undefined);
  return Object.fromEntries(given.map((name) => [`trailblaze/${name}`, flags[name]]));
}

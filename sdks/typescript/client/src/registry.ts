/** The resource `trailblaze://registry`: what a tool server says about its tools. */

import type { GroupInfo, ServerInfo, ToolMetadata } from './generated.ts';

/** The address of the resource. */
export const REGISTRY_URI = 'trailblaze://registry';

/** The metadata of a tool, as its author writes it. What is absent has its default. */
export type ToolEntry = Partial<ToolMetadata>;

/** The registry of one module of tools, or of a whole server. */
export type ToolRegistry = {
  readonly tools?: Readonly<Record<string, ToolEntry>>;
  readonly groups?: Readonly<Record<string, Partial<GroupInfo>>>;
  readonly serverInfo?: Partial<ServerInfo>;
};

/**
 * Merges the registries of several modules into that of a server. Two modules must not describe the same tool, nor the same group
 * differently; the last `serverInfo` counts.
 */
export function registry(...modules: readonly ToolRegistry[]): Required<Pick<ToolRegistry, 'tools' | 'groups'>> & ToolRegistry {
  const tools = new Map<string, ToolEntry>();
  const groups = new Map<string, Partial<GroupInfo>>();
  let serverInfo: Partial<ServerInfo> | undefined;
  for (const module of modules) {
    for (const [name, entry] of Object.entries(module.tools ?? {})) {
      if (tools.has(name)) {
        throw new TypeError(`two registries describe the tool \`${name}\`; remove one`);
      }
      tools.set(name, entry);
    }
    for (const [name, info] of Object.entries(module.groups ?? {})) {
      const known = groups.get(name) ?? info;
      if (known.description !== info.description || known.defaultEnabled !== info.defaultEnabled) {
        throw new TypeError(`two registries describe the group \`${name}\` differently; remove one`);
      }
      groups.set(name, info);
    }
    serverInfo = module.serverInfo ?? serverInfo;
  }
  return {
    tools: Object.fromEntries(tools),
    groups: Object.fromEntries(groups),
    ...(serverInfo === undefined ? {} : { serverInfo }),
  };
}

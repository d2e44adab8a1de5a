/** The resource `trailblaze://registry`: what a tool server says about its tools. */
import type { GroupInfo, ServerInfo, ToolMetadata } from './generated.ts';
/** The address of the resource. */
export declare const REGISTRY_URI = "trailblaze://registry";
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
export declare function registry(...modules: readonly ToolRegistry[]): Required<Pick<ToolRegistry, 'tools' | 'groups'>> & ToolRegistry;

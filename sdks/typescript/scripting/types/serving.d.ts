/** What is served, wherever the tools run. */
import type { DefinedTool } from './tool.ts';
export type RunOptions = {
    /** The name of the server. Default: the name of the script. */
    name?: string;
    version?: string;
    /** Instructions for models about the whole server. */
    instructions?: string;
    /** The tools to serve. Default: all defined tools. */
    tools?: readonly DefinedTool[];
    /**
     * With `--transport http --port N` they are served over HTTP, at /mcp on this machine, otherwise over stdio. Default: the
     * arguments of the process.
     */
    args?: readonly string[];
};
/** A resource: its address, and what returns its text. */
export type ServedResource = {
    uri: string;
    read: () => Promise<string>;
};
export type ServeOptions = RunOptions & {
    resources?: readonly ServedResource[];
};
export type RunningServer = {
    close(): Promise<void>;
};

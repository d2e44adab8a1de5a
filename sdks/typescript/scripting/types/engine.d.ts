/** The package for tools that run in Trailblaze's script engine: the same, without a process, Node and MCP. */
export * from './parts.ts';
export { run, Server } from './engine-run.ts';

/** Write Trailblaze tools in TypeScript: `tool(...)` defines one, `run()` serves all of them, over stdio or HTTP. */
export * from './parts.ts';
export { run, Server } from './run.ts';

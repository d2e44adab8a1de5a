/** One call of a tool, from its arguments to its result. Never throws: errors become results. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { CallContext } from './context.ts';
import type { DefinedTool } from './tool.ts';
export declare function invoke(tool: DefinedTool, args: unknown, ctx: CallContext): Promise<CallToolResult>;

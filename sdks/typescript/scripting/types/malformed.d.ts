/** What Trailblaze refuses about a result, because a misspelled key would have no effect. Only for tests: Trailblaze checks it itself. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
/** Undefined if nothing is wrong. */
export declare function malformed(result: CallToolResult): string | undefined;

/** The built-in tools, each with the names of its arguments; those that end with `!` are required. */
export declare const BUILT_IN_TOOLS: string;

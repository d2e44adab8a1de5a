/** The built-in tools, each with its arguments: the name, `!` if it is required, and the type or the words that are accepted. */
export declare const BUILT_IN_TOOLS: string;

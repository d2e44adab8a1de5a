/** Messages about names that do not exist. */
/** Says that a name is unknown, and which one was probably meant or may be used. */
export declare function unknownName(what: string, name: string, known: readonly string[]): string;

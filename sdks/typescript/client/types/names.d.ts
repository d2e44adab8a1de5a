/** Messages about names that do not exist. */
/** Says that a name is unknown, and which one was probably meant or may be used. */
export declare function unknownName(what: string, name: string, known: readonly string[]): string;
/** The known name that was probably meant. Words may be joined in another way: `memory_delta`. */
export declare function misspelled(name: string, known: readonly string[]): string | undefined;

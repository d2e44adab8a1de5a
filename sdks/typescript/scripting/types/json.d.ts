/** What JSON cannot hold. `JSON.stringify` changes some of it without a word: NaN becomes null, a Map becomes `{}`, bytes become an object. */
/** What of a value JSON would lose or refuse, and where; `undefined` if nothing. Fields that are undefined are absent. */
export declare function unlikeJson(value: unknown, path?: string, around?: object[]): string | undefined;

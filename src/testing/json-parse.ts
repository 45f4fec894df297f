/** JSON.parse, of one of several contexts: what it returns is of that context. */
export type JsonParse = (text: string) => unknown;

/** JSON.parse of one of several contexts: the objects that it returns are of that context. */
export type JsonParse = (text: string) => unknown;

/** What a waiting socket holds, and why it has to. Beginnings of names, the first that fits counts. */
export const EXPLANATIONS: readonly (readonly [string, string])[] = [];

/** A page's own script: plain JavaScript, without types. @param file in src/server */
export const pageScript = async <Script>(file: string): Promise<Script> =>
  (await import(new URL(`../../../src/server/${file}`, import.meta.url).href)) as Script;

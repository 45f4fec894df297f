/**
 * What the examples in deploy/kubernetes have in place of values: `REPLACE-WITH-PASSWORD`, say. In capitals, as host names
 * and tags of images that are in use hardly ever are.
 */
const EXAMPLE = /\bREPLACE-[A-Z][A-Z-]*/;

/** @returns the example's value that stands in a text; undefined if there is none */
export const exampleValue = (text: string): string | undefined => EXAMPLE.exec(text)?.[0];

/**
 * Faults of variables that hold an example's value. All variables, not the settings alone: a graph's code reads others. Of
 * the value no more is shown than what the example has.
 */
export function exampleFaults(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const example = exampleValue(value ?? '');
    return example === undefined
      ? []
      : [`  ${name}: expected a value of yours, got the example's ${example}`];
  });
}

/**
 * The placeholders in the examples of deploy/kubernetes, such as `REPLACE-WITH-PASSWORD`. They are in capitals, since
 * host names and tags of images in use hardly ever are.
 */
const EXAMPLE = /\bREPLACE-[A-Z][A-Z-]*/;

/** @returns the example's value that stands in a text; undefined if there is none */
export const exampleValue = (text: string): string | undefined => EXAMPLE.exec(text)?.[0];

/**
 * Faults of variables that hold an example's value. All variables are checked, not the settings alone, since a graph's
 * code reads others. A fault shows no more of the value than the example has.
 */
export function exampleFaults(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const example = exampleValue(value ?? '');
    return example === undefined
      ? []
      : [`  ${name}: expected a value of yours, got the example's ${example}`];
  });
}

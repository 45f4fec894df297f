/** Whether a fault, or a note, is of a value that users have to replace. */
export const isExampleValue = (line: string): boolean =>
  /expected a value of yours at .*, got the example's REPLACE-/.test(line);

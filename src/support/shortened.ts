/** Cuts a text to `length` characters, and adds … if the text is longer: names and documents come from clients. */
export function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

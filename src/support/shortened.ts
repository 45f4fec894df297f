/** At most so many characters of a text, with … where there are more: names and documents come from clients. */
export function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

const MAX_SHOWN = 5;

/** The first names of a list, and how many more there are. */
export function shownList(names: readonly string[]): string {
  const shown = names.slice(0, MAX_SHOWN).join(', ');
  return names.length <= MAX_SHOWN ? shown : `${shown} and ${names.length - MAX_SHOWN} more`;
}

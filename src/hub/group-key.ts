/**
 * The variables of a subscription as text: the same text only for the same raw values of the variables that the
 * operation declares. Raw, since coerced values (Map, Set, BigInt) can look alike in JSON though they differ.
 * Absent is not null: a variable that was not sent leaves no trace.
 */
export function variablesKey(names: readonly string[], variables: Readonly<Record<string, unknown>>): string {
  let key = '';
  for (const name of names) {
    if (Object.hasOwn(variables, name)) key += `${name}:${canonicalJson(variables[name])},`;
  }
  return key;
}

/** Only the variables that the operation declares: others that a client sends are neither kept nor part of the key. */
export function declaredVariables(
  names: readonly string[],
  variables: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(variables, name)).map((name) => [name, variables[name]]),
  );
}

/** JSON with sorted object keys. Uses JSON.stringify if that gives the same text, as for most clients. */
function canonicalJson(value: unknown): string {
  return isCanonical(value) ? JSON.stringify(value) : sortedJson(value);
}

/** Whether all its object keys are sorted, and JSON can represent all its numbers. */
function isCanonical(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isCanonical);
  let before = '';
  for (const key in value) {
    if (key < before || !isCanonical((value as Readonly<Record<string, unknown>>)[key])) return false;
    before = key;
  }
  return true;
}

function sortedJson(value: unknown): string {
  // JSON.stringify writes infinite numbers as null, and -0 as 0.
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  const object = value as Readonly<Record<string, unknown>>;
  const members = Object.keys(object).toSorted();
  return `{${members.map((key) => `${JSON.stringify(key)}:${sortedJson(object[key])}`).join(',')}}`;
}

/** Freezes a JSON value and all values in it: executions share the value, and none may change it for the next one. */
export function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const item of Object.values(value)) deepFreeze(item);
}

/** Freezes a JSON value and all that it holds: executions share it, and one must not change what the next one sees. */
export function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const item of Object.values(value)) deepFreeze(item);
}

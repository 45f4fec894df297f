import type { HistoryPosition } from '../../bus/history.ts';

/** `1.<epoch>.<sequence in base 36>`. Opaque to clients: another form will begin with another number. */
const CURSOR = /^1\.([0-9a-z]{1,32})\.([0-9a-z]{1,11})$/;

/** A place in a topic's history, as clients get it with each event. */
export function cursorOf({ epoch, sequence }: HistoryPosition): string {
  return `1.${epoch}.${sequence.toString(36)}`;
}

/** @returns undefined for what this gateway has not made */
export function parseCursor(cursor: unknown): HistoryPosition | undefined {
  const [, epoch, digits = ''] = typeof cursor === 'string' ? (CURSOR.exec(cursor) ?? []) : [];
  const sequence = parseInt(digits, 36);
  return epoch !== undefined && Number.isSafeInteger(sequence) ? { epoch, sequence } : undefined;
}

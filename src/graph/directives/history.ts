import { Kind, type ConstValueNode } from 'graphql';
import type { HistorySettings } from '../../events/history-settings.ts';
import { placeOf, type Findings, type Place } from '../diagnostic.ts';

/** Upper bounds: events of a channel, all of which Redis reads while it does nothing else; and a day in seconds. */
const MOST = { size: 10_000, ttl_seconds: 86_400 } as const;

/** How long events of a topic are kept if they are kept for `replay` alone. */
const REPLAY_TTL_MS = MOST.ttl_seconds * 1_000;

type Part = keyof typeof MOST;

const PARTS = Object.keys(MOST) as Part[];

/**
 * Reads the argument `history` of `@event`.
 *
 * @param value coerced
 * @param node undefined if the argument is left out
 */
export function readHistory(
  value: unknown,
  node: ConstValueNode | undefined,
  file: string,
  findings: Findings,
): HistorySettings | undefined {
  if (node === undefined || value === undefined || value === null) return undefined;
  const { size, ttl_seconds: ttl } = value as Readonly<Record<Part, number>>;
  const fields = node.kind === Kind.OBJECT ? node.fields : [];
  for (const { name } of fields) {
    // GraphQL itself ignores fields that an input type does not have.
    if (PARTS.some((part) => part === name.value)) continue;
    findings.error(
      placeOf(name, file),
      `history: expected ${PARTS.join(' or ')}, got ${name.value}`,
      'history takes size: Int! and ttl_seconds: Int!.',
    );
  }
  const check = (part: Part, got: number): void => {
    if (got >= 1 && got <= MOST[part]) return;
    const at = fields.find(({ name }) => name.value === part)?.value ?? node;
    findings.error(
      placeOf(at, file),
      `history: expected a ${part} from 1 to ${MOST[part]}, got ${got}`,
      `Leave ${part} out for its default.`,
    );
  };
  check('size', size);
  check('ttl_seconds', ttl);
  return { size, ttlMs: ttl * 1_000, keepsAll: false };
}

/**
 * Reads the argument `replay` of `@event`.
 *
 * @param value coerced
 * @returns 0 if nothing is replayed
 */
export function readReplay(value: unknown, place: Place, findings: Findings): number {
  if (typeof value !== 'number') return 0;
  if (value >= 1 && value <= MOST.size) return value;
  findings.error(
    place,
    `expected replay from 1 to ${MOST.size}, got ${value}`,
    'Leave it out to begin with the next event.',
  );
  return 0;
}

/** Adds `replay` to a field's history: the events of all keys are kept, since clients may subscribe to any key. */
export function keptFor(history: HistorySettings | undefined, replay: number): HistorySettings | undefined {
  if (replay === 0) return history;
  const { size, ttlMs } = history ?? { size: replay, ttlMs: REPLAY_TTL_MS };
  return { size: Math.max(size, replay), ttlMs, keepsAll: true };
}

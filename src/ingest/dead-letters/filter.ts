import type { Letter } from './letter.ts';

/** Selects letters. A field that is undefined does not restrict them. */
export interface LetterFilter {
  /** The topic that the message came from. */
  readonly topic?: string | undefined;
  readonly reason?: string | undefined;
  /** ms: the message is of this time or later. */
  readonly since?: number | undefined;
  /** ms: the message is of a time before this. */
  readonly until?: number | undefined;
  /** The key of the message, as UTF-8. */
  readonly key?: string | undefined;
}

/** @returns whether a letter is selected; a letter without a time is not if the filter has a time */
export function letterFilter(filter: LetterFilter): (letter: Letter) => boolean {
  const { topic, reason, since, until } = filter;
  const key = filter.key === undefined ? undefined : Buffer.from(filter.key);
  return (letter) => {
    if (topic !== undefined && letter.origin.topic !== topic) return false;
    if (reason !== undefined && letter.reason !== reason) return false;
    if (since !== undefined && !(letter.time !== undefined && letter.time >= since)) return false;
    if (until !== undefined && !(letter.time !== undefined && letter.time < until)) return false;
    return key === undefined || letter.record.key?.equals(key) === true;
  };
}

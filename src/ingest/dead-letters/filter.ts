import type { Letter } from './letter.ts';

/** Which letters are meant; what is undefined does not restrict them. */
export interface LetterFilter {
  /** That the message came from. */
  readonly topic?: string | undefined;
  readonly reason?: string | undefined;
  /** ms: of the message, this time or later. */
  readonly since?: number | undefined;
  /** ms: of the message, before this time. */
  readonly until?: number | undefined;
  /** The key of the message, as UTF-8. */
  readonly key?: string | undefined;
}

/** @returns whether a letter is meant; one without a time is not, where a time is asked for */
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

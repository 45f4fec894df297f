import { placeText, type Letter } from '../ingest/dead-letters/letter.ts';
import { quoted } from './quoted.ts';

/** A letter as one line of text, without a newline: two spaces between the parts, `-` for an absent time or key. */
export function letterLine(letter: Letter): string {
  const { origin, lastOffset, reason, replayedFrom, record } = letter;
  const last = lastOffset === undefined ? '' : `-${lastOffset}`;
  return [
    `${placeText(origin)}${last}`,
    timeOf(letter) ?? '-',
    reason,
    record.key === null ? '-' : quoted(record.key.toString()),
    record.value === null ? 'no value' : `${record.value.length} bytes`,
    placeText(record),
    ...(replayedFrom === undefined ? [] : [`replayed from ${replayedFrom}`]),
  ].join('  ');
}

/**
 * A letter as JSON, without a newline. `bytes` is the value's length, null without a value; only a bad batch has
 * `lastOffset`; `letter` is the letter's own place in the dead-letter topic.
 */
export function letterJson(letter: Letter): string {
  const { origin, lastOffset, reason, replayedFrom, record } = letter;
  return JSON.stringify({
    ...origin,
    lastOffset,
    time: timeOf(letter) ?? null,
    reason,
    key: record.key?.toString() ?? null,
    bytes: record.value?.length ?? null,
    replayedFrom,
    letter: { topic: record.topic, partition: record.partition, offset: record.offset },
  });
}

/** The letter's time in ISO form; undefined if the letter has none, or one out of the range of dates. */
function timeOf({ time }: Letter): string | undefined {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { spawnFor } from './child-process.ts';
import { kafkaBrokers } from './services.ts';

/** A message without a key may go to any partition. */
export interface Line {
  readonly key?: string;
  readonly value: string;
}

const KEY_END = '\t';

/** Makes a missing topic an error at once, and not after half a minute. */
const NO_WAIT = 'topic.metadata.propagation.max.ms=0';

/**
 * Produces one message a line, in order; keys go to the same partitions as with Java's and kafkajs's producers.
 * Keys must not have tabs, nor values newlines; a value may be empty if there is a key. Needs 'kafka' and 'kcat'.
 *
 * @returns when Kafka has acknowledged all messages
 */
export async function kcat(
  t: TestContext,
  topic: string,
  lines: Iterable<Line>,
  compression: 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd' = 'none',
  brokers: string = kafkaBrokers(),
): Promise<void> {
  const options = ['partitioner=murmur2_random', `compression.codec=${compression}`, NO_WAIT].flatMap(
    (option) => ['-X', option],
  );
  const child = spawnFor(t, 'kcat', ['-b', brokers, '-P', '-t', topic, '-K', KEY_END, ...options]);
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  // kcat may end before it has read all of its input; the exit code tells so.
  child.stdin.on('error', () => {});
  const closed = once(child, 'close');
  for (const { key, value } of lines) {
    child.stdin.write(key === undefined ? `${value}\n` : `${key}${KEY_END}${value}\n`);
  }
  child.stdin.end();
  const [code] = await closed;
  if (code === 0) return;
  throw new Error(`Expected kcat to produce to ${topic}, but it ended with ${code}: ${complaints}`);
}

/** Events of `itemSchema` with these numbers. @param idOf returns an event's id, which is its key too */
export const itemLines = (numbers: readonly number[], idOf: (n: number) => unknown = () => 1): Line[] =>
  numbers.map((n) => ({ key: String(idOf(n)), value: JSON.stringify({ id: idOf(n), n }) }));

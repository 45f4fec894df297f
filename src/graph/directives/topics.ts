import { messageOf } from '../../errors.ts';
import type { Findings, Place } from '../diagnostic.ts';
import { isTopicName, patternOf, streamOf } from '../topics.ts';

const ALLOWED = 'Kafka allows letters, digits, ".", "_" and "-", up to 249 of them.';
const EITHER = 'Write topic: "orders", topics: ["orders-eu", "orders-us"] or topic: "/^orders-/".';

/** The name of the stream is part of each channel's name, and of all keys in Redis. */
const MOST_CHARACTERS = 1_000;

/**
 * Reads `topic` and `topics` of `@event`.
 *
 * @returns each name and pattern once; undefined after an error
 */
export function readTopics(
  { topic, topics }: Readonly<Record<string, unknown>>,
  placeOf: (argument: string) => Place,
  findings: Findings,
): readonly string[] | undefined {
  const one = typeof topic === 'string' ? [topic] : [];
  const several = Array.isArray(topics) ? topics.map(String) : undefined;
  const argument = several === undefined ? 'topic' : 'topics';
  const refuse = (message: string, hint: string): undefined => {
    findings.error(placeOf(argument), message, hint);
    return undefined;
  };
  if ((one.length === 0) === (several === undefined)) {
    return refuse(`expected either topic or topics, got ${one.length === 0 ? 'neither' : 'both'}`, EITHER);
  }
  const named = [...new Set(several ?? one)];
  if (named.length === 0) return refuse('topics: expected at least one, got an empty list', EITHER);
  for (const each of named) {
    const fault = faultOf(each);
    if (fault !== undefined) return refuse(...fault);
  }
  const { length } = streamOf(named);
  if (length > MOST_CHARACTERS) {
    const message = `topics: expected names of ${MOST_CHARACTERS} characters together, got ${length}`;
    return refuse(message, 'Write a pattern that they match.');
  }
  return named;
}

function faultOf(topic: string): [message: string, hint: string] | undefined {
  if (isTopicName(topic)) return undefined;
  const expected = 'expected the name of a Kafka topic';
  if (!topic.startsWith('/')) return [`${expected}, got "${topic}"`, ALLOWED];
  if (topic.length < 3 || topic.indexOf('/', 1) !== topic.length - 1)
    return [
      `${expected}, or a pattern with a slash before and behind it only, got "${topic}"`,
      'Write "/^orders-/".',
    ];
  try {
    patternOf(topic);
    return undefined;
  } catch (error) {
    return [`expected a regular expression, got "${topic}": ${messageOf(error)}`, 'Write "/^orders-/".'];
  }
}

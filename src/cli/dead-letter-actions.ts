import { messageOf, SluiceError } from '../errors.ts';
import { letterFilter } from '../ingest/dead-letters/filter.ts';
import type { DeadLetterKafka, TopicReader } from '../ingest/dead-letters/kafka.ts';
import type { Letter } from '../ingest/dead-letters/letter.ts';
import { Letters } from '../ingest/dead-letters/letters.ts';
import { Replay, type ReplayOutcome } from '../ingest/dead-letters/replay.ts';
import type { DeadLetterCommand } from './dead-letter-arguments.ts';
import { letterJson, letterLine } from './letter-lines.ts';

export interface ActionOptions {
  readonly command: DeadLetterCommand;
  readonly kafka: DeadLetterKafka;
  /** The topic of the dead letters. */
  readonly topic: string;
  /** Takes a line about a letter. */
  readonly print: (line: string) => void;
  /** Takes a line about all letters, which must not stand among the lines about single letters. */
  readonly tell: (line: string) => void;
  readonly stopping: AbortSignal;
}

/**
 * Prints the letters that the command's filter selects.
 *
 * @returns the exit code
 * @throws SluiceError KAFKA_FAILED, or BAD_SETTINGS if the topic does not exist
 */
export async function listLetters(options: ActionOptions): Promise<number> {
  const { command, print, tell, stopping } = options;
  const write = command.json ? letterJson : letterLine;
  return withLetters(options, async (letters) => {
    let printed = 0;
    for await (const letter of letters.matching(letterFilter(command.filter))) {
      if (stopping.aborted) break;
      print(write(letter));
      printed += 1;
      if (printed === command.limit) break;
    }
    tell(`${printed} of ${counted(letters.read, 'dead letter')}${foreign(letters)}`);
    if (!stopping.aborted) return 0;
    tell(`sluice: the list ended early: ${messageOf(stopping.reason)}`);
    return 1;
  });
}

/**
 * Sends the selected letters back to their topics, and prints them; with `--dry-run`, only prints them.
 *
 * @returns the exit code
 * @throws as `listLetters` does, before the first letter is sent
 */
export async function replayLetters(options: ActionOptions): Promise<number> {
  const { command, kafka, print, tell, stopping } = options;
  const write = command.json ? letterJson : letterLine;
  return withLetters(options, async (letters) => {
    const sink = command.dryRun ? undefined : kafka.replaySink();
    const replay = new Replay({
      letters,
      isMeant: letterFilter(command.filter),
      limit: command.limit,
      sink,
      onReplayed: (letter: Letter) => print(write(letter)),
      stopping,
    });
    const outcome = await replay.run();
    await sink?.stop();
    for (const line of report(outcome, letters, command.dryRun)) tell(line);
    return outcome.error === undefined ? 0 : 1;
  });
}

async function withLetters(
  { command, kafka, topic }: ActionOptions,
  use: (letters: Letters) => Promise<number>,
): Promise<number> {
  let reader: TopicReader | undefined;
  try {
    const missing = await kafka.missingTopics([topic]);
    if (missing.length > 0) {
      throw new SluiceError(
        'BAD_SETTINGS',
        `DEAD_LETTER_TOPIC: expected a topic that exists and that this user may describe, got ${topic}`,
      );
    }
    reader = await kafka.open(topic, command.from);
    return await use(new Letters(reader.partitions, command.from));
  } catch (cause) {
    if (cause instanceof SluiceError) throw cause;
    throw new SluiceError('KAFKA_FAILED', `the dead letters of ${topic} can't be read: ${messageOf(cause)}`, {
      cause,
    });
  } finally {
    await reader?.close();
  }
}

function report(outcome: ReplayOutcome, letters: Letters, isDryRun: boolean): string[] {
  const { replayed, withoutValue, error, uncertain, goOnAt } = outcome;
  const did = isDryRun ? 'would replay' : 'replayed';
  const passedOver = withoutValue === 0 ? '' : `; passed over ${withoutValue} without a value`;
  const lines = [
    `${did} ${replayed} of ${counted(letters.read, 'dead letter')}${passedOver}${foreign(letters)}`,
  ];
  if (error !== undefined) lines.push(`sluice: the replay ended early: ${messageOf(error)}`);
  if (uncertain > 0) lines.push(`up to ${uncertain} more may have been sent, and would be sent again`);
  const places = [...goOnAt].toSorted(([one], [other]) => one - other).map((place) => place.join('/'));
  if (places.length > 0) lines.push(`go on behind them with --from ${places.join(',')}`);
  else if (error !== undefined) lines.push('go on from the beginning');
  return lines;
}

function foreign({ foreign: count }: Letters): string {
  return count === 0 ? '' : `; ${counted(count, 'message')} without the headers of a dead letter`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

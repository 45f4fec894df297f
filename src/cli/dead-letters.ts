import { loadConfig } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import { SluiceError } from '../errors.ts';
import { kafkaConnection } from '../ingest/kafka/connection.ts';
import { KafkajsDeadLetterKafka } from '../ingest/kafka/kafkajs/dead-letter-kafka.ts';
import { createLog } from '../log.ts';
import { listLetters, replayLetters } from './dead-letter-actions.ts';
import { deadLetterCommand } from './dead-letter-arguments.ts';

/**
 * `sluice dead-letters`: prints letters to standard output, and all else to standard error.
 *
 * @param args the arguments after `dead-letters`
 * @returns the exit code
 * @throws UsageError, SluiceError BAD_SETTINGS or KAFKA_FAILED, or the errors of util.parseArgs
 */
export async function deadLetters(args: readonly string[]): Promise<number> {
  const command = deadLetterCommand(args);
  const config = loadConfig(process.env);
  const topic = deadLetterTopic(config);
  const log = createLog(config.LOG_LEVEL, process.stderr);
  const act = command.action === 'list' ? listLetters : replayLetters;
  return act({
    command,
    kafka: new KafkajsDeadLetterKafka(kafkaConnection(config, log), config, log),
    topic,
    print: (line) => void process.stdout.write(`${line}\n`),
    tell: (line) => void process.stderr.write(`${line}\n`),
    stopping: stopRequested(),
  });
}

/** A signal within this time of the first is its copy: npm passes the signal on, too. */
const SAME_SIGNAL_MS = 1_000;

/** Aborts at the first signal, or when a reader such as `head` closes the output. A second signal ends the process. */
function stopRequested(): AbortSignal {
  const stopping = new AbortController();
  let stoppingSince: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stoppingSince !== undefined && performance.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(1);
      stoppingSince ??= performance.now();
      stopping.abort(new Error(`stopped by ${signal}`));
    });
  }
  process.stdout.on('error', (error) => stopping.abort(error));
  return stopping.signal;
}

function deadLetterTopic({ KAFKA_BROKERS, DEAD_LETTER_TOPIC }: Config): string {
  const missing = [
    ...(KAFKA_BROKERS.length === 0
      ? ['KAFKA_BROKERS: expected the brokers of the gateway, got nothing']
      : []),
    ...(DEAD_LETTER_TOPIC === undefined
      ? ['DEAD_LETTER_TOPIC: expected the topic that the gateway writes dead letters to, got nothing']
      : []),
  ];
  if (DEAD_LETTER_TOPIC === undefined || missing.length > 0) {
    throw new SluiceError('BAD_SETTINGS', `these settings are needed:\n  ${missing.join('\n  ')}`);
  }
  return DEAD_LETTER_TOPIC;
}

import kafkajs, { type LogEntry, type logCreator } from '#kafkajs';
import type { Log } from '../../../log.ts';
import { NO_TLS } from '../credentials/tls-refusal.ts';

/** Fields of kafkajs's log entries that are worth a line. Its others hold payloads, stacks and whole assignments. */
const FIELDS = ['broker', 'groupId', 'memberId', 'topic', 'partition', 'error', 'retryCount', 'retryTime'];

/** The answer of brokers to each heartbeat while pods come and go. It is no fault: the consumer joins anew. */
const REBALANCING = 'The group is rebalancing, so a rejoin is needed';

/**
 * Messages about a connection that brokers refuse, or for which there is no secret or token. kafkajs logs several of them
 * for each attempt, and then throws: the caller logs the error, once.
 */
const REFUSED = new RegExp(
  `${NO_TLS}|SASL .* authentication failed|Response SaslAuthenticate|\\bKAFKA_[A-Z_]+: expected`,
);

/**
 * Sends kafkajs's log through the gateway's. Its level INFO is about its own workings, and becomes debug; KafkaSource logs
 * what an operator needs of it.
 *
 * @param isReached whether brokers have answered: until then the caller logs why they have not, once
 */
export function kafkaLogCreator(log: Log, isReached = () => true): logCreator {
  return () => (entry) => {
    const fields = fieldsOf(entry);
    if (fields['error'] === REBALANCING || REFUSED.test(entry.log.message) || !isReached())
      log.debug(fields, entry.log.message);
    else if (entry.level === kafkajs.logLevel.ERROR) log.error(fields, entry.log.message);
    else if (entry.level === kafkajs.logLevel.WARN) log.warn(fields, entry.log.message);
    else log.debug(fields, entry.log.message);
  };
}

/** kafkajs's own threshold: at `debug` it writes a line per request, so those need the gateway's `trace`. */
export function kafkaLogLevel(log: Log): number {
  return log.isLevelEnabled('trace') ? kafkajs.logLevel.DEBUG : kafkajs.logLevel.INFO;
}

function fieldsOf(entry: LogEntry): Record<string, string | number> {
  const fields: Record<string, string | number> = { client: `kafkajs ${entry.namespace}`.trim() };
  for (const name of FIELDS) {
    const value: unknown = entry.log[name];
    if (typeof value === 'string' || typeof value === 'number') fields[name] = value;
    else if (value instanceof Error) fields[name] = value.message;
  }
  return fields;
}

import { messageOf, SluiceError } from '../errors.ts';
import type { Explanation, SubscriptionExplanation } from '../explain/explainer.ts';
import { argumentsOf, UsageError } from './command.ts';
import { print } from './output.ts';
import { harmless } from './quoted.ts';

const QUESTION = ['connection', 'topic', 'partition', 'offset'] as const;

/** Of a pod on this machine, or behind `kubectl port-forward`. */
const DEFAULT_URL = 'http://127.0.0.1:4001';

/**
 * `sluice explain`: asks the admin port of a pod why a connection did, or did not, get an event.
 *
 * @returns the exit code
 * @throws SluiceError NOT_EXPLAINED if the pod can't be asked, or does not know
 */
export async function explain(args: readonly string[]): Promise<number> {
  const { lists, options } = argumentsOf(args, [], {
    options: ['json'],
    lists: [...QUESTION, 'url', 'worker'],
  });
  const given = new Map(Object.entries(lists).map(([name, [value = '']]) => [name, value]));
  const missing = QUESTION.filter((name) => !given.has(name));
  if (missing.length > 0) {
    throw new UsageError(`expected ${missing.map((name) => `--${name}`).join(', ')}, got nothing`);
  }
  const explanation = await ask(given);
  print(
    options.has('json')
      ? `${JSON.stringify(explanation, undefined, 2)}\n`
      : linesOf(explanation).join('\n') + '\n',
  );
  return 0;
}

async function ask(given: ReadonlyMap<string, string>): Promise<Explanation> {
  const query = new URLSearchParams([...given].filter(([name]) => name !== 'url'));
  const url = `${(given.get('url') ?? DEFAULT_URL).replace(/\/$/, '')}/debug/explain?${query}`;
  const response = await fetch(url).catch((error: unknown) => {
    throw new SluiceError('NOT_EXPLAINED', `${url}: ${messageOf(error)}`, { cause: error });
  });
  const body = (await response.json()) as Explanation & { error?: string };
  if (!response.ok) throw new SluiceError('NOT_EXPLAINED', body.error ?? `${url}: ${response.status}`);
  return body;
}

function linesOf({ connection, event, recording, subscriptions }: Explanation): string[] {
  const { topic, partition, offset } = event;
  return [
    `${harmless(topic)} ${partition}/${offset}, connection ${connection}`,
    ...(subscriptions.length === 0 ? ['  it has no subscription'] : subscriptions.flatMap(linesOfOne)),
    `  (recorded since ${recording.since}, until ${recording.until} unless asked again; ${recording.events} events)`,
  ];
}

function linesOfOne({ field, operation, variables, verdict, because }: SubscriptionExplanation): string[] {
  const name = operation === null ? '' : ` of ${operation}`;
  const asked = Object.keys(variables).length === 0 ? '' : ` ${harmless(JSON.stringify(variables))}`;
  return [`  ${field}${name}${asked}: ${verdict}`, ...because.map((reason) => `    ${harmless(reason)}`)];
}

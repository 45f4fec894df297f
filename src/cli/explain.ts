import { messageOf, SluiceError } from '../errors.ts';
import type { Explanation, SubscriptionExplanation } from '../explain/explanation.ts';
import { argumentsOf, UsageError } from './command.ts';
import { print } from './output.ts';
import { harmless } from './quoted.ts';

const QUESTION = ['connection', 'topic', 'partition', 'offset'] as const;

/** Of a pod on this machine, or behind `kubectl port-forward`. */
const DEFAULT_URL = 'http://127.0.0.1:4001';

/** What one pod has answered. */
interface Answer extends Explanation {
  readonly url: string;
}

/**
 * `sluice explain`: asks the admin ports of pods why a connection did, or did not, get an event.
 *
 * @returns the exit code
 * @throws SluiceError NOT_EXPLAINED if a pod can't be asked, or none has the connection
 */
export async function explain(args: readonly string[]): Promise<number> {
  const { lists, options } = argumentsOf(args, [], {
    options: ['json'],
    lists: [...QUESTION, 'url', 'worker'],
  });
  const { url: urls = [], ...asked } = lists as Readonly<Record<string, readonly string[]>>;
  const given = new Map(Object.entries(asked).map(([name, [value = '']]) => [name, value]));
  const missing = QUESTION.filter((name) => !given.has(name));
  if (missing.length > 0) {
    throw new UsageError(`expected ${missing.map((name) => `--${name}`).join(', ')}, got nothing`);
  }
  const places = urls.length === 0 ? [DEFAULT_URL] : [...new Set(urls)];
  const answers = await Promise.all(places.map((url) => ask(url, given)));
  if (answers.every(({ connection }) => connection === null)) {
    throw new SluiceError(
      'NOT_EXPLAINED',
      `connection: expected the id of one that is open in ${places.join(' or ')} (/debug/connections), got ${given.get('connection')}`,
    );
  }
  print(
    options.has('json')
      ? `${JSON.stringify(answers.length === 1 ? answers[0] : answers, undefined, 2)}\n`
      : `${linesOf(answers, given).join('\n')}\n`,
  );
  return 0;
}

/** @returns of a pod that does not have the connection: how it has consumed the event */
async function ask(url: string, given: ReadonlyMap<string, string>): Promise<Answer> {
  const query = new URLSearchParams([...given]);
  const { status, answer } = await get(url, query);
  if (status !== 404) return answer;
  query.delete('connection');
  return (await get(url, query)).answer;
}

async function get(url: string, query: URLSearchParams): Promise<{ status: number; answer: Answer }> {
  const address = `${url.replace(/\/$/, '')}/debug/explain?${query}`;
  const failed = (error: unknown): never => {
    throw new SluiceError('NOT_EXPLAINED', `${address}: ${messageOf(error)}`, { cause: error });
  };
  const response = await fetch(address).catch(failed);
  const body = (await response.json().catch(failed)) as Explanation & { error?: string };
  const { ok, status } = response;
  if (!ok && !(status === 404 && query.has('connection'))) {
    throw new SluiceError('NOT_EXPLAINED', `${address}: ${body.error ?? status}`);
  }
  return { status, answer: { ...body, url } };
}

function linesOf(answers: readonly Answer[], given: ReadonlyMap<string, string>): string[] {
  const at = ({ url }: Answer): string => (answers.length === 1 ? '' : ` at ${url}`);
  const consumers = answers.filter(({ consumed }) => consumed !== null);
  const consumed = consumers.flatMap((answer) => [
    `  consumed${at(answer)}: ${answer.consumed?.verdict}`,
    ...(answer.consumed?.because ?? []).map((reason) => `    ${harmless(reason)}`),
  ]);
  const holders = answers.filter(({ connection }) => connection !== null);
  return [
    `${harmless(given.get('topic') ?? '')} ${given.get('partition')}/${given.get('offset')}`,
    ...consumed,
    ...holders.flatMap((answer) => [
      `  connection ${answer.connection}${at(answer)}`,
      ...subscriptionsOf(answer),
    ]),
  ];
}

function subscriptionsOf({ recording, subscriptions }: Explanation): string[] {
  const { since, until, events } = recording;
  return [
    ...(subscriptions.length === 0
      ? ['    it has no subscription; of one that was refused, its client got the error']
      : subscriptions.flatMap(linesOfOne)),
    `    (recorded since ${since}, until ${until} unless asked again; ${events} events)`,
  ];
}

function linesOfOne({ field, operation, variables, verdict, because }: SubscriptionExplanation): string[] {
  const name = operation === null ? '' : ` of ${operation}`;
  const asked = Object.keys(variables).length === 0 ? '' : ` ${harmless(JSON.stringify(variables))}`;
  return [`    ${field}${name}${asked}: ${verdict}`, ...because.map((reason) => `      ${harmless(reason)}`)];
}

import { SluiceError } from '../errors.ts';
import { askPods, type AskedPod, type Question } from '../explain/ask.ts';
import { argumentsOf, UsageError } from './command.ts';
import { explanationLines, recordingLines } from './explanation-lines.ts';
import { print } from './output.ts';
import { harmless } from './quoted.ts';

const QUESTION = ['connection', 'topic', 'key', 'partition', 'offset'] as const;

/** Leads to a pod on this machine that has the same settings, or to one behind `kubectl port-forward`. */
const DEFAULT_URL = `http://127.0.0.1:${process.env['ADMIN_PORT'] || '4001'}`;

export const EXPLAIN_USAGE = `sluice explain --topic <name> [options]

  --topic <name>        that has the event, or whose last five events are meant
  --partition <number>  of the event, 0 without Kafka; alone: the last events of this one
  --offset <number>     of the event in its partition
  --key <text>          the last five events of this key, in place of --offset
  --connection <id>     that did, or did not, get it, as /debug/connections has it; without: how events were routed
  --url <url>           of an admin port, ${DEFAULT_URL} by default; may be repeated: the first one has the connection
  --worker <number>     process of the first pod that has the connection, its first one by default
  --json                what /debug/explain gives
`;

const PATIENCE_MS = 10_000;

/**
 * `sluice explain`: asks the admin ports of pods why a connection did, or did not, get an event, or the last events of
 * a topic. The first pod has the connection; each process of all pods is asked what it has done with the event.
 *
 * @returns the exit code
 * @throws SluiceError NOT_EXPLAINED if the first pod can't be asked, or does not know the connection
 */
export async function explain(args: readonly string[]): Promise<number> {
  const { lists, options } = argumentsOf(args, [], {
    options: ['json'],
    lists: [...QUESTION, 'url', 'worker'],
  });
  const question = questionOf((name) => lists[name]?.[0]);
  const [first, ...others] = [
    ...new Set((lists['url'] ?? [DEFAULT_URL]).map((url) => url.replace(/\/$/, ''))),
  ].map((url) => ({ name: url, url }));
  const { explanations, recordings, faults } = await askPods(
    question,
    [first as AskedPod, ...others],
    lists['worker']?.[0] ?? '1',
    get,
  );
  const isOne = question.offset !== undefined;
  if (options.has('json')) {
    print(`${JSON.stringify(isOne ? explanations[0] : explanations, undefined, 2)}\n`);
    return 0;
  }
  const lines = [
    ...(explanations.length === 0 ? [noneText(question)] : explanations.flatMap(explanationLines)),
    ...recordingLines(recordings),
    ...faults.map((fault) => `  (${fault})`),
  ];
  print(`${lines.join('\n')}\n`);
  return 0;
}

/** @throws UsageError */
function questionOf(given: (name: string) => string | undefined): Question {
  const [topic, offset] = [given('topic'), given('offset')];
  if (topic === undefined) throw new UsageError('expected --topic, got nothing');
  if (offset !== undefined && given('partition') === undefined) {
    throw new UsageError('expected --partition with --offset, got nothing');
  }
  if (offset !== undefined && given('key') !== undefined) {
    throw new UsageError('expected --key or --offset, got both');
  }
  const others = QUESTION.flatMap((name) => (given(name) === undefined ? [] : [[name, given(name)]]));
  return { ...(Object.fromEntries(others) as Partial<Question>), topic };
}

function noneText({ topic, key, partition }: Question): string {
  const of = [
    ...(key === undefined ? [] : [`of the key ${JSON.stringify(key)}`]),
    ...(partition === undefined ? [] : [`of partition ${partition}`]),
  ];
  return harmless(`${topic}: none of the last events ${[...of, ''].join(' ')}in the processes asked`);
}

/** @throws SluiceError NOT_EXPLAINED */
async function get(url: string): Promise<unknown> {
  const [pod] = url.split('/debug/');
  const failed = (reason: string, cause?: unknown): SluiceError =>
    new SluiceError('NOT_EXPLAINED', `${reason} (${pod})`, { cause });
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const body = (await response.json()) as { readonly error?: string };
    if (response.ok) return body;
    throw failed(body.error ?? `expected status 200, got ${response.status}`);
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    const { code, message } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    if (code !== 'ECONNREFUSED') throw failed(message, error);
    const text =
      'expected the admin port of a gateway, got one on which nothing listens; --url names another';
    throw failed(text, error);
  }
}

import { messageOf, SluiceError } from '../errors.ts';
import type { Explanation } from '../explain/explanation.ts';
import { merged, type Answer } from '../explain/merged.ts';
import type { EventPlace } from '../events/trace.ts';
import { argumentsOf, UsageError } from './command.ts';
import { explanationLines } from './explanation-lines.ts';
import { print } from './output.ts';

const QUESTION = ['connection', 'topic', 'partition', 'offset'] as const;

/** Of a pod on this machine, or behind `kubectl port-forward`. */
const DEFAULT_URL = 'http://127.0.0.1:4001';

const PATIENCE_MS = 10_000;

/** One of a pod's processes. */
interface Process {
  readonly url: string;
  /** From 1 on. */
  readonly worker: string;
}

type Question = Readonly<Partial<Record<'connection' | keyof EventPlace, string>>>;

/**
 * `sluice explain`: asks the admin ports of pods why a connection did, or did not, get an event. The connection is one of
 * the first pod's; each process of all of them is asked what it has done with the event.
 *
 * @returns the exit code
 * @throws SluiceError NOT_EXPLAINED if the first pod can't be asked, or does not know the connection
 */
export async function explain(args: readonly string[]): Promise<number> {
  const { lists, options } = argumentsOf(args, [], {
    options: ['json'],
    lists: [...QUESTION, 'url', 'worker'],
  });
  const missing = QUESTION.filter((name) => lists[name] === undefined);
  if (missing.length > 0) {
    throw new UsageError(`expected ${missing.map((name) => `--${name}`).join(', ')}, got nothing`);
  }
  const question = Object.fromEntries(QUESTION.map((name) => [name, lists[name]?.[0] ?? '']));
  const urls = [...new Set((lists['url'] ?? [DEFAULT_URL]).map((url) => url.replace(/\/$/, '')))];
  const holder = { url: urls[0] ?? DEFAULT_URL, worker: lists['worker']?.[0] ?? '1' };
  const { connection: _, ...event } = question;
  const faults: string[] = [];
  const [answer, ...others] = await Promise.all([
    ask(holder, question),
    ...urls.map(async (url) => {
      const asking = processesOf(url).then((processes) =>
        Promise.all(processes.filter((one) => !isSame(one, holder)).map((one) => ask(one, event))),
      );
      // The first pod is asked for its connection too, and fails there.
      return asking.catch((error: unknown) => {
        faults.push(`${url} could not be asked: ${messageOf(error)}`);
        return [];
      });
    }),
  ]);
  const explanation = merged(answer, others.flat());
  const lines = [...explanationLines(explanation), ...faults.map((fault) => `  (${fault})`)];
  print(options.has('json') ? `${JSON.stringify(explanation, undefined, 2)}\n` : `${lines.join('\n')}\n`);
  return 0;
}

const isSame = (one: Process, other: Process): boolean =>
  one.url === other.url && one.worker === other.worker;

async function processesOf(url: string): Promise<Process[]> {
  const { workers } = (await get(`${url}/debug/workers`)) as {
    readonly workers: readonly { readonly worker: number }[];
  };
  return workers.map(({ worker }) => ({ url, worker: String(worker) }));
}

async function ask({ url, worker }: Process, question: Question): Promise<Answer> {
  const query = new URLSearchParams({ ...question, worker });
  const explanation = (await get(`${url}/debug/explain?${query}`)) as Explanation;
  return { process: `${url}, worker ${worker}`, explanation };
}

/** @throws SluiceError NOT_EXPLAINED */
async function get(url: string): Promise<unknown> {
  const failed = (reason: string, cause?: unknown): SluiceError =>
    new SluiceError('NOT_EXPLAINED', `${url}: ${reason}`, { cause });
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const body = (await response.json()) as { readonly error?: string };
    if (response.ok) return body;
    throw failed(body.error ?? `expected status 200, got ${response.status}`);
  } catch (error) {
    throw error instanceof SluiceError ? error : failed(messageOf(error), error);
  }
}

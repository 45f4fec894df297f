import type { Explanation, LastEvents } from './explanation.ts';
import { merged, recordingOf, type Answer, type MergedExplanation, type Recording } from './merged.ts';

/** The parameters of `/debug/explain`; without an offset, for the last events, of a partition or key if given. */
export interface Question {
  readonly connection?: string;
  readonly topic: string;
  readonly partition?: string;
  readonly offset?: string;
  readonly key?: string;
}

/** One pod that can be asked. */
export interface AskedPod {
  /** The name of the pod in answers: `http://127.0.0.1:4001`. */
  readonly name: string;
  /** The URL of its admin port, without a path. */
  readonly url: string;
}

/** One process that can be asked. */
export interface AskedProcess {
  /** The name of the process in answers: `http://127.0.0.1:4001, worker 2`. */
  readonly name: string;
  /** @throws if the process can't be asked, or refuses */
  ask(question: Question): Promise<unknown>;
}

export interface Explanations {
  /** One explanation for each event, the last event last. */
  readonly explanations: readonly MergedExplanation[];
  /** Each process says what it has recorded and kept of the topic. */
  readonly recordings: readonly Recording[];
  /** Says which other pods and processes could not be asked, and why. */
  readonly faults: readonly string[];
}

/** The most of the last events that one answer explains. */
const MOST_EVENTS = 5;

/**
 * Asks all processes of pods, and merges their answers. Runs in the command line, and in browsers for the page at
 * `/debug/`.
 *
 * @param worker the process of the first pod that has the connection, if one is asked for
 * @param get gets the JSON at a URL
 * @throws the error of asking that process
 */
export async function askPods(
  question: Question,
  pods: readonly [AskedPod, ...AskedPod[]],
  worker: string,
  get: (url: string) => Promise<unknown>,
): Promise<Explanations> {
  const processOf = ({ name, url }: AskedPod, of: string): AskedProcess => ({
    name: `${name}, worker ${of}`,
    ask: (asked) =>
      get(`${url}/debug/explain?${new URLSearchParams({ ...asked, worker: of } as Record<string, string>)}`),
  });
  const holder = processOf(pods[0], worker);
  const unlisted: string[] = [];
  const processes = await Promise.all(
    pods.map(async (pod) => {
      try {
        const { workers } = (await get(`${pod.url}/debug/workers`)) as Workers;
        return workers.map((one) => processOf(pod, `${one.worker}`));
      } catch (error) {
        // The first pod is also asked as the holder of the connection: if it fails, that question throws.
        unlisted.push(`${pod.name} could not be asked: ${(error as Error).message}`);
        return [];
      }
    }),
  );
  const others = processes.flat().filter(({ name }) => name !== holder.name);
  const { faults, ...answers } = await askAll(question, holder, others);
  return { ...answers, faults: [...unlisted, ...faults] };
}

/** The answer of `/debug/workers`. */
interface Workers {
  readonly workers: readonly { readonly worker: number }[];
}

/**
 * Asks processes, and merges their answers.
 *
 * @param holder the process that has the connection, if one is asked for
 * @throws the error of asking the holder
 */
export async function askAll(
  question: Question,
  holder: AskedProcess,
  others: readonly AskedProcess[],
): Promise<Explanations> {
  const faults = new Set<string>();
  const { connection: _, ...event } = question;
  const askEach = async <T>(place: Partial<Question>): Promise<[Named<T>, ...Named<T>[]]> => {
    const named = async (process: AskedProcess, asked: Question): Promise<Named<T>> => ({
      process: process.name,
      answer: (await process.ask({ ...asked, ...place })) as T,
    });
    const [first, ...rest] = await Promise.all([
      named(holder, question),
      ...others.map((process) =>
        named(process, event).catch((error: unknown) => {
          faults.add(`${process.name} could not be asked: ${(error as Error).message}`);
          return undefined;
        }),
      ),
    ]);
    return [first, ...rest.filter((answer) => answer !== undefined)];
  };
  const explain = async (place: Partial<Question>): Promise<MergedExplanation> => {
    const [first, ...rest] = (await askEach<Explanation>(place)).map(({ process, answer }): Answer => ({
      process,
      explanation: answer,
    }));
    return merged(first as Answer, rest);
  };
  if (question.offset !== undefined) {
    const explanation = await explain({});
    return { explanations: [explanation], recordings: explanation.recordings, faults: [...faults] };
  }
  const answers = await askEach<LastEvents>({});
  const explanations: MergedExplanation[] = [];
  for (const { partition, offset } of lastOf(answers.map(({ answer }) => answer.events))) {
    explanations.push(await explain({ partition: `${partition}`, offset: `${offset}` }));
  }
  const recordings = answers.map(({ process, answer }) => recordingOf(process, answer));
  return { explanations, recordings, faults: [...faults] };
}

interface Named<T> {
  readonly process: string;
  readonly answer: T;
}

/** Lists each event once: one process has consumed it, and it has come to others. */
function lastOf(lists: readonly LastEvents['events'][]): LastEvents['events'] {
  const places = new Map<string, LastEvents['events'][number]>();
  for (const event of lists.flat()) {
    const name = `${event.partition}/${event.offset}`;
    if ((places.get(name)?.at ?? event.at) >= event.at) places.set(name, event);
  }
  return [...places.values()]
    .toSorted((one, other) => (one.at === other.at ? one.offset - other.offset : one.at < other.at ? -1 : 1))
    .slice(-MOST_EVENTS);
}

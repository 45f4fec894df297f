import type { Consumption } from '../../events/consumption.ts';
import { valueOf, type CommandConnection } from './connection.ts';
import { writePositions } from './heard-positions.ts';
import type { BusNames } from './names.ts';
import type { BusTiming } from './timing.ts';

export interface OwnPositionsOptions {
  readonly commands: Pick<CommandConnection, 'send'>;
  readonly names: BusNames;
  readonly pod: string;
  /** What this process consumes, and how it is read again; undefined: it consumes nothing. */
  readonly consumption: () => Consumption | undefined;
  /** Whether all that listen hear what this pod publishes. */
  readonly publishes: () => boolean;
  readonly timing: BusTiming;
}

/** Prefixes: of a question, on the channel of positions, and of an answer, on the channel of the pod that has asked. */
export const QUESTION = '?';
export const ANSWER = '@';

/**
 * Reports up to which position this pod has published its partitions: each second, to all pods, those that have changed,
 * and to a pod that asks, all. It reports nothing before the pod has looked at the server that it publishes to: what was
 * published to another server must be reported first.
 */
export class OwnPositions {
  readonly #options: OwnPositionsOptions;
  /** The positions that were reported last, by topic and partition. */
  readonly #said = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: OwnPositionsOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#say(), this.#options.timing.beatMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** A pod without an answer asks again. @param question without its first character: who asks, and its number */
  async answer(question: string): Promise<void> {
    const { commands, names, pod, consumption, publishes } = this.#options;
    if (!publishes()) return;
    const [asker = '', number = ''] = question.split(' ', 2);
    const answer = `${ANSWER}${pod} ${number} ${writePositions(consumption()?.topics() ?? [])}`;
    await commands.send([['PUBLISH', names.podChannel(asker), answer]]).catch(() => undefined);
  }

  async #say(): Promise<void> {
    const { commands, names, consumption, publishes } = this.#options;
    if (!publishes()) return;
    const changed = (consumption()?.topics() ?? []).flatMap((one) => {
      const partitions = one.partitions.filter((each) => {
        const key = `${one.topic}/${each.partition}`;
        const text = `${each.log} ${each.next} ${each.assignedAt}`;
        if (this.#said.get(key) === text) return false;
        this.#said.set(key, text);
        return true;
      });
      return partitions.length === 0 ? [] : [{ ...one, partitions }];
    });
    if (changed.length === 0) return;
    try {
      const [reply] = await commands.send([['PUBLISH', names.positionsChannel, writePositions(changed)]]);
      valueOf(reply);
    } catch {
      this.#said.clear();
    }
  }
}

import { PublishError, type Publication } from '../../events/publisher.ts';
import type { Clock } from '../../support/clock.ts';
import { valueOf, type CommandConnection } from './connection.ts';
import { ListenerPace } from './listener-pace.ts';
import type { BusNames } from './names.ts';
import type { OwnChannels } from './own-channels.ts';
import { partsOf } from './publication-parts.ts';
import type { Publishing } from './publishing.ts';

interface PacedPublishingOptions {
  readonly publishing: Publishing;
  readonly commands: Pick<CommandConnection, 'send'>;
  readonly names: BusNames;
  readonly pod: string;
  /** Whether Redis tells how many listeners a message has reached. */
  readonly countsReceivers: boolean;
  /** Topics whose events are not cut: Redis notes the offset of each with its first part. */
  readonly histories: ReadonlyMap<string, unknown>;
  /** @throws if this pod does not listen: its own subscribers would miss what is published */
  readonly expectListening: () => void;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

const QUESTIONS_REFUSED =
  'Redis refuses the channel on which pods ask what the others have heard; until it does not, events are published as fast as Redis takes them';

/** Begins the answer to a question, on a channel that carries heartbeats too. */
const ANSWER = '=';

/** Publishes in parts of limited bytes, and no faster than pods listen. */
export class PacedPublishing {
  readonly #options: PacedPublishingOptions;
  readonly #pace: ListenerPace;
  /** Whether this pod would hear answers. */
  #mayAsk = false;

  /** @param paces of the bus */
  constructor(options: PacedPublishingOptions, paces?: Set<ListenerPace>) {
    this.#options = options;
    const { clock, stopping } = options;
    this.#pace = new ListenerPace({ ask: (question) => this.#ask(question), clock, stopping }, paces);
  }

  /** Called once the pod's own channel, which carries answers, is joined. Resolves when the channel of questions is, too. */
  async start(own: OwnChannels): Promise<void> {
    const { names } = this.#options;
    await own.join(names.questionsChannel, (payload) => void this.#answer(payload), {
      level: 'warn',
      message: QUESTIONS_REFUSED,
      act: () => undefined,
    });
    this.#mayAsk = true;
  }

  /** @throws PublishError: if a part is not acknowledged, the parts after it are not published */
  async publish(topic: string, batch: readonly Publication[]): Promise<void> {
    const { publishing, histories, expectListening } = this.#options;
    let tried = 0;
    for (const { publications, bytes } of partsOf(batch, this.#pace.mostTogether, histories.has(topic))) {
      tried += publications.length;
      await this.#pace.admit(bytes);
      try {
        expectListening();
        await publishing.publish(topic, publications);
      } catch (thrown) {
        const [failed, cause] =
          thrown instanceof PublishError ? [thrown.failed, thrown.cause] : [publications, thrown];
        throw new PublishError([...failed, ...batch.slice(tried)], batch.length, cause);
      }
    }
  }

  /** @returns whether the message is an answer */
  heard(payload: string): boolean {
    if (!payload.startsWith(ANSWER)) return false;
    this.#pace.heard(Number(payload.slice(ANSWER.length)));
    return true;
  }

  /** Answers a pod that asks. */
  async #answer(payload: Buffer | string): Promise<void> {
    const { commands, names } = this.#options;
    const [pod = '', question = ''] = payload.toString().split(' ');
    // A pod that gets no answer goes on after a while.
    await commands.send([['PUBLISH', names.podChannel(pod), ANSWER + question]]).catch(() => undefined);
  }

  async #ask(question: number): Promise<number> {
    if (!this.#mayAsk) return 0;
    const { commands, names, pod, countsReceivers } = this.#options;
    const [reply] = await commands.send([['PUBLISH', names.questionsChannel, `${pod} ${question}`]]);
    // This pod is among the listeners, though Redis may not know of it.
    return Math.max(Number(valueOf(reply)), countsReceivers ? 0 : 1);
  }
}

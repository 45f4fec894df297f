import type { Publication } from '../../events/publisher.ts';
import type { Command } from './connection.ts';
import { ANY_EPOCH } from './history-scripts.ts';
import { inGroups, type TopicHistory } from './topic-history.ts';
import type { TopicVersions } from './topic-versions.ts';

/** Where pods without history publish all the time, each attempt finds another epoch. */
const ATTEMPTS = 4;

/** Publishes to topics with history by scripts; other topics are published to by commands. */
export class HistoryPublishing {
  readonly #histories: ReadonlyMap<string, TopicHistory>;
  readonly #versions: Pick<TopicVersions, 'runScript'>;

  /** @param histories by topic */
  constructor(histories: ReadonlyMap<string, TopicHistory>, versions: Pick<TopicVersions, 'runScript'>) {
    this.#histories = histories;
    this.#versions = versions;
  }

  /**
   * @returns the channels that are kept or subscribed to; undefined if the topic has no history, or Redis refuses it at
   *   present
   */
  async wanted(topic: string, channels: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    const history = this.#histories.get(topic);
    if (history === undefined) return undefined;
    if (history.keepsAll) return new Set(channels);
    const told = (refusal: string | undefined): void => history.noteRefusal('ask', refusal);
    const wanted = new Set<string>();
    for (const some of inGroups(channels)) {
      const question = history.passedOver.nextQuestion();
      const ask = (version: string): Command => history.asksFor(some, version, question);
      const reply = await this.#versions.runScript(topic, ask, told);
      if (reply === undefined) return undefined;
      const flags = reply as readonly number[];
      if (flags.includes(0)) history.passedOver.note(question);
      for (const [index, channel] of some.entries()) if (flags[index] === 1) wanted.add(channel);
    }
    return wanted;
  }

  /** @returns false if the topic has no history, or Redis refuses it at present: nothing has been published */
  async publish(topic: string, batch: readonly Publication[]): Promise<boolean> {
    const history = this.#histories.get(topic);
    if (history === undefined) return false;
    const told = (refusal: string | undefined): void => {
      if (refusal !== undefined) history.noteRefusal('publish', refusal);
    };
    for (let attempt = 1; ; attempt += 1) {
      const command = (version: string): Command =>
        history.publishes(batch, version, attempt < ATTEMPTS ? history.epoch : ANY_EPOCH);
      const reply = await this.#versions.runScript(topic, command, told);
      if (reply === undefined) return false;
      if (!history.published(batch, reply)) continue;
      history.noteRefusal('publish', undefined);
      return true;
    }
  }
}

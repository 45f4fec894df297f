import type { Publication } from '../../events/publisher.ts';
import type { TopicHistory } from './topic-history.ts';
import type { TopicVersions } from './topic-versions.ts';

/** Publishes what Redis keeps: with scripts, where others are published by commands. */
export class HistoryPublishing {
  readonly #histories: ReadonlyMap<string, TopicHistory>;
  readonly #versions: Pick<TopicVersions, 'runScript'>;

  /** @param histories by topic */
  constructor(histories: ReadonlyMap<string, TopicHistory>, versions: Pick<TopicVersions, 'runScript'>) {
    this.#histories = histories;
    this.#versions = versions;
  }

  /**
   * @returns those of the channels that are kept or subscribed to; undefined if the topic has no history, or Redis refuses
   *   it at present
   */
  async wanted(topic: string, channels: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    const history = this.#histories.get(topic);
    if (history === undefined) return undefined;
    if (history.keepsAll) return new Set(channels);
    const told = (refusal: string | undefined): void => history.told('ask', refusal);
    const reply = await this.#versions.runScript(
      topic,
      (version) => history.asksFor(channels, version),
      told,
    );
    const flags = reply as readonly number[] | undefined;
    return flags && new Set(channels.filter((_, index) => flags[index] === 1));
  }

  /** @returns false if the topic has no history, or Redis refuses it at present: nothing has been published */
  async publish(topic: string, batch: readonly Publication[]): Promise<boolean> {
    const history = this.#histories.get(topic);
    if (history === undefined) return false;
    const told = (refusal: string | undefined): void => history.told('publish', refusal);
    const reply = await this.#versions.runScript(topic, (version) => history.publishes(batch, version), told);
    if (reply === undefined) return false;
    history.published(batch, reply);
    return true;
  }
}

import type { Group } from '../group.ts';
import type { Resumer } from './resumer.ts';

/** How long until clients that are slow are looked at again: ms. */
const SLOW_MS = 50;

/** Subscribers whose clients have yet to take what they were sent. */
export class SlowResumers {
  readonly #again: (group: Group, resumer: Resumer) => void;
  #waiting: { readonly group: Group; readonly resumer: Resumer }[] = [];

  /** @param again called for each once its client has taken all */
  constructor(again: (group: Group, resumer: Resumer) => void) {
    this.#again = again;
  }

  add(group: Group, resumers: readonly Resumer[]): void {
    if (this.#waiting.length === 0) setTimeout(() => this.#look(), SLOW_MS).unref();
    this.#waiting.push(...resumers.map((resumer) => ({ group, resumer })));
  }

  #look(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { group, resumer } of waiting) {
      if (!group.isResuming(resumer.subscriber)) continue;
      if (resumer.subscriber.isBehind) this.add(group, [resumer]);
      else this.#again(group, resumer);
    }
  }
}

import assert from 'node:assert/strict';
import type { Delivery } from '../../../../src/graph/graph.ts';
import type { Operation } from '../../../../src/executor/operation.ts';
import { Group } from '../../../../src/hub/group.ts';
import type { Hub } from '../../../../src/hub/hub.ts';
import type { SerializedResult } from '../../../../src/hub/result.ts';
import type { Subscriber } from '../../../../src/hub/subscriber.ts';
import type { Json } from '../../../../src/lazy/reads.ts';

export const INTERVAL_MS = 100;

/** Of each key one event in an interval. */
export const throttled: Delivery = {
  keyOf: ({ key }) => String(key),
  throttleMs: INTERVAL_MS,
  onSlow: 'DISCONNECT',
};

interface Heard {
  readonly n: number;
  /** What it was told to be left out before. */
  readonly skipped: number;
  /** ms */
  readonly at: number;
}

/** A subscriber that has asked to be told of gaps, and notes what it gets and when. */
export class Listener implements Subscriber {
  viewer: Json;
  readonly owner = this;
  readonly wantsGaps = true;
  readonly isBehind = false;
  readonly heard: Heard[] = [];
  /** Places among what it has heard, where it was told of a gap. */
  readonly gaps: number[] = [];
  readonly #hub: Hub;
  readonly #now: () => number;
  #group: Group | undefined;

  /** @param now ms */
  constructor(hub: Hub, now = (): number => 0, viewer: Json = {}) {
    this.#hub = hub;
    this.#now = now;
    this.viewer = viewer;
  }

  get group(): Group {
    return this.#group ?? assert.fail('it has not joined');
  }

  get isJoined(): boolean {
    return this.#group !== undefined;
  }

  /** `n` of each event, with what it stands for: `3+2`. */
  get said(): string {
    return this.heard.map(({ n, skipped }) => (skipped === 0 ? `${n}` : `${n}+${skipped}`)).join(' ');
  }

  join(asked: Operation, id: string | readonly string[] = 'a'): this {
    const group = this.#hub.join(asked, { id }, this);
    assert.ok(group instanceof Group);
    this.#group = group;
    return this;
  }

  leave(): void {
    this.#hub.leave(this.group, this);
    this.#group = undefined;
  }

  become(viewer: Json): void {
    const previous = this.viewer;
    this.viewer = viewer;
    this.#group?.viewerChanged(this, previous);
  }

  deliver(result: SerializedResult): void {
    assert.ok(this.#group !== undefined, 'it has left');
    const told = result.telling(result.leftOutFor(this), true);
    const { data, extensions } = JSON.parse(told.json.toString()) as {
      readonly data: { readonly n: number } | null;
      readonly extensions?: { readonly gap?: { readonly skipped?: number } };
    };
    if (data === null) this.gaps.push(this.heard.length);
    else this.heard.push({ n: data.n, skipped: extensions?.gap?.skipped ?? 0, at: this.#now() });
  }

  reconnect(): void {
    assert.fail('it has asked to be told of gaps');
  }

  end(): void {
    this.#group = undefined;
  }
}

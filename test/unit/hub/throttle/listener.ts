import assert from 'node:assert/strict';
import type { Delivery } from '../../../../src/graph/graph.ts';
import type { Operation } from '../../../../src/executor/operation.ts';
import type { Hub } from '../../../../src/hub/hub.ts';
import type { SerializedResult } from '../../../../src/hub/result.ts';
import type { Json } from '../../../../src/lazy/reads.ts';
import { FakeSubscriber } from '../parts.ts';

export const INTERVAL_MS = 100;

/** A delivery of one event of each key in an interval. */
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
export class Listener extends FakeSubscriber {
  readonly heard: Heard[] = [];
  /** Places among what it has heard, where it was told of a gap. */
  readonly gaps: number[] = [];
  isJoined = false;
  readonly #now: () => number;

  /** @param now ms */
  constructor(now = (): number => 0, viewer: Json = {}) {
    super(viewer, true);
    this.#now = now;
  }

  /** `n` of each event, with what it stands for: `3+2`. */
  get said(): string {
    return this.heard.map(({ n, skipped }) => (skipped === 0 ? `${n}` : `${n}+${skipped}`)).join(' ');
  }

  override join(hub: Hub, asked: Operation, variables: Record<string, unknown> = { id: 'a' }): this {
    this.isJoined = true;
    return super.join(hub, asked, variables);
  }

  override leave(): void {
    super.leave();
    this.isJoined = false;
  }

  override deliver(result: SerializedResult): void {
    assert.ok(this.isJoined, 'it has left');
    const told = result.telling(result.leftOutFor(this), true);
    const { data, extensions } = JSON.parse(told.json.toString()) as {
      readonly data: { readonly n: number } | null;
      readonly extensions?: { readonly gap?: { readonly skipped?: number } };
    };
    if (data === null) this.gaps.push(this.heard.length);
    else this.heard.push({ n: data.n, skipped: extensions?.gap?.skipped ?? 0, at: this.#now() });
  }

  override reconnect(): void {
    assert.fail('it has asked to be told of gaps');
  }

  override end(): void {
    this.isJoined = false;
  }
}

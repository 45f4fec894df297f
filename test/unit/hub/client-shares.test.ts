import assert from 'node:assert/strict';
import test from 'node:test';
import { variablesKey } from '../../../src/hub/group-key.ts';
import { Group } from '../../../src/hub/group.ts';
import { variablesSize } from '../../../src/hub/join-refusal.ts';
import { upTo } from '../../helpers/numbers.ts';
import { FakeSubscriber, operation, setUp } from './parts.ts';

/** Subscriptions of the test's size. */
const MOST = 100;
const ONE = operation();
const id = (n: number): Record<string, unknown> => ({ id: `${n + 1_000}` });
const history = { size: 10, ttlMs: 60_000, keepsAll: false };

const CAPS = {
  channels: { hub: {}, most: MOST, again: 57 },
  'channels with history': {
    hub: { maxKept: MOST, streams: new Map([['bids', { name: 'bids', history }]]) },
    again: 0,
  },
  variables: { hub: { maxVariables: MOST * variablesSize(variablesKey(['id'], id(0))) }, again: 56 },
  documents: {
    hub: { maxDocuments: MOST * ('subscription { bid }'.length + 400) },
    asked: operation,
    again: 56,
  },
} as const;

for (const [what, { hub: options, ...cap }] of Object.entries(CAPS)) {
  test(`of all ${what} a client gets three quarters, on however many connections, and others get the rest`, async () => {
    const { hub, bus, metrics } = setUp(options);
    if ('most' in cap) bus.most = cap.most;
    let made = 0;
    /** @returns how it leaves, or the code that it is refused with */
    const join = (client: string | undefined) => {
      const subscriber = new FakeSubscriber();
      const group = hub.join('asked' in cap ? cap.asked() : ONE, id((made += 1)), subscriber, { client });
      return group instanceof Group ? () => hub.leave(group, subscriber) : group[0]?.extensions['code'];
    };
    const got = upTo(MOST).map(() => join('greedy'));
    const leaves = got.filter((each) => typeof each === 'function');
    assert.deepEqual([leaves.length, got.at(-1)], [75, 'POD_FULL']);
    const { values } = await metrics.refusals.get();
    assert.equal(values.find(({ labels }) => labels.reason === 'share_of_client')?.value, 25);
    const others = upTo(25).map((n) => join(n < 20 ? `${n}` : undefined));
    assert.ok(others.every((each) => typeof each === 'function'));
    assert.equal(join('another'), 'POD_FULL');
    for (const leave of leaves) leave();
    // Three quarters of what the others have left; of what is counted in bytes no part of one; what is kept stays its own.
    assert.equal(upTo(MOST).filter(() => typeof join('greedy') === 'function').length, cap.again);
  });
}

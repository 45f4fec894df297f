import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { itemLines, kcat } from '../helpers/kcat.ts';
import { range } from '../helpers/numbers.ts';
import { gapsOf, reorderedIn } from './delivery-account.ts';

/** Each is one Kafka key, and so on one partition. */
const KEYS = 30;

type Numbered = Readonly<Record<string, { readonly id: string; readonly n: number }>>;

export type Subscriber = Received<Numbered>;

/** Sends events with these numbers, of `KEYS` keys in turn. */
export const sendItems = (t: TestContext, topic: string, from: number, to: number): Promise<void> =>
  kcat(
    t,
    topic,
    itemLines(range(from, to), (n) => n % KEYS),
  );

/** Clients with a connection each, which subscribe to all events of a field and ask to be told of gaps. */
export async function subscribers(
  t: TestContext,
  pod: GatewayProcess,
  count: number,
  field = 'item',
): Promise<Subscriber[]> {
  const before = await pod.metric('sluice_subscribers');
  const query = `subscription { ${field} { id n } }`;
  const all = range(0, count).map(
    () => new Received<Numbered>(graphqlClient(t, pod.graphqlUrl), query, {}, { gaps: true }),
  );
  await pod.untilMetric('sluice_subscribers', before + count);
  return all;
}

/** Each subscriber gets each of these events, once and in the order of its key, and nothing else. */
export async function assertAllCame(
  t: TestContext,
  received: readonly Subscriber[],
  sent: number,
): Promise<void> {
  const begun = Date.now();
  await eventually(() => {
    for (const { results } of received) assert.equal(results.length, sent);
  }).catch(() => undefined); // The account says more.
  const owed = sent * received.length;
  const account = { sent, owed, received: 0, told: 0, closed: 0, doubled: 0, reordered: 0 };
  for (const each of received) {
    const items = each.data.flatMap((one) => Object.values(one ?? {}));
    const distinct = new Set(items.map(({ n }) => n));
    account.received += distinct.size;
    account.told += gapsOf(each).length;
    account.closed += each.end === undefined ? 0 : 1;
    account.doubled += items.length - distinct.size;
    account.reordered += reorderedIn(items);
  }
  t.diagnostic(`${JSON.stringify(account)} after ${Date.now() - begun} ms`);
  assert.deepEqual(account, { sent, owed, received: owed, told: 0, closed: 0, doubled: 0, reordered: 0 });
}

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { range } from '../helpers/numbers.ts';

/** Until the account is made up: what has not come by then is lost. */
const LONGEST_MS = 45_000;

type Numbered = Readonly<Record<string, { readonly n: number }>>;

/** Subscribers to all events of a field, over one connection. */
export async function subscribers(
  t: TestContext,
  pod: GatewayProcess,
  count: number,
  field = 'item',
): Promise<Received<Numbered>[]> {
  const before = await pod.metric('sluice_subscribers');
  const client = graphqlClient(t, pod.graphqlUrl);
  const all = range(0, count).map(() => new Received<Numbered>(client, `subscription { ${field} { n } }`));
  await pod.untilMetric('sluice_subscribers', before + count);
  return all;
}

/** Each subscriber gets each of these events, once. */
export async function assertAllCame(
  t: TestContext,
  received: readonly Received<Numbered>[],
  sent: number,
): Promise<void> {
  const begun = Date.now();
  await eventually(
    () => {
      for (const { results } of received) assert.equal(results.length, sent);
    },
    { withinMs: LONGEST_MS },
  ).catch(() => undefined); // The account says more.
  const owed = sent * received.length;
  const account = { sent, owed, received: 0, doubled: 0 };
  for (const { data } of received) {
    const numbers = data.flatMap((one) => Object.values(one ?? {}).map(({ n }) => n));
    const distinct = new Set(numbers);
    account.received += distinct.size;
    account.doubled += numbers.length - distinct.size;
  }
  t.diagnostic(`${JSON.stringify(account)} after ${Date.now() - begun} ms`);
  assert.deepEqual(account, { sent, owed, received: owed, doubled: 0 });
}

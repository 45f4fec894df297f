import assert from 'node:assert/strict';
import test from 'node:test';
import { openPage } from '../helpers/chromium.ts';
import { eventually } from '../helpers/eventually.ts';
import { range } from '../helpers/numbers.ts';
import { needs } from '../helpers/services.ts';
import { SECRET, signToken } from '../helpers/tokens.ts';
import { TRANSPORT_CLIENTS } from '../helpers/transport-client.ts';
import { bids, QUERY, startBids, urlOf } from './bids.ts';
import { revoke } from './graph-gateway.ts';
import { servePages } from '../helpers/local-server.ts';

const { eventStream, multipart } = TRANSPORT_CLIENTS;

test(
  "a browser's EventSource on a page of another origin goes on where it was when its connection is lost",
  needs('chromium'),
  async (t) => {
    const origin = await servePages(t);
    const gateway = await startBids(t, {
      ORIGINS: origin,
      CONNECTION_MAX_AGE_SECONDS: '5',
      COMPRESSION_MIN_BYTES: '1',
    });
    const page = await openPage(t);
    await page.goto(origin);
    await page.evaluate((url) => {
      const seen: unknown[] = [];
      Object.assign(globalThis, { seen });
      const source = new EventSource(url);
      source.addEventListener('next', (event) =>
        seen.push(JSON.parse((event as MessageEvent).data as string)),
      );
      source.addEventListener('open', () => seen.push('open'));
    }, urlOf(gateway));
    const seen = (): Promise<unknown[]> =>
      page.evaluate(() => (globalThis as unknown as { seen: unknown[] }).seen);
    await gateway.untilMetric('sluice_subscribers', 1);
    await bids(gateway, 1, 2);
    // It has an id to go on from.
    await eventually(async () => assert.match(JSON.stringify(await seen()), /"data":\{/));
    await bids(gateway, 2, 4);
    // The connection has grown old. While there is none, events come.
    await gateway.untilMetric('sluice_subscribers', 0);
    await bids(gateway, 4, 7);
    const wanted = range(1, 7).map((n) => ({ bid: { n } }));
    await eventually(async () => {
      const results = (await seen())
        .map((one) => (one as { data?: unknown }).data)
        .filter((data) => data != null);
      assert.deepEqual(results, wanted);
    });
    const told = (await seen()).filter((one) => (one as { data?: unknown }).data === null);
    assert.ok(told.length > 0);
    for (const { extensions } of told as { extensions: { recovered: boolean } }[])
      assert.equal(extensions.recovered, true);
  },
);

/** What a client asks with a token that holds for so long. */
const asked = async (sub: string, seconds: number) => ({
  query: QUERY,
  headers: { authorization: `Bearer ${await signToken({ sub }, seconds)}` },
});

for (const client of [eventStream, multipart]) {
  test(`a stream over ${client.name} ends when the token of its client has expired, or its viewer is revoked`, async (t) => {
    const gateway = await startBids(t, {
      AUTH_SECRET: SECRET,
      AUTH_CLAIMS: 'id=sub',
      AUTH_CLOCK_TOLERANCE_SECONDS: '0',
      AUTH_GRACE_SECONDS: '1',
    });
    assert.deepEqual(await client.ask(t, gateway, { query: QUERY }).untilEnded(), {
      how: 'refused',
      code: 401,
    });
    const [expires, stays] = [
      client.ask(t, gateway, await asked('ann', 8)),
      client.ask(t, gateway, await asked('bob', 3_600)),
    ];
    await gateway.untilMetric('sluice_subscribers', 2);
    assert.equal((await expires.untilEnded()).how, 'closed');
    await gateway.untilMetric('sluice_closes_total{code="4403",reason="token_expired"}', 1);
    assert.equal(stays.ending, undefined);
    await revoke(gateway, 'id', 'bob');
    assert.equal((await stays.untilEnded()).how, 'closed');
    await gateway.untilMetric('sluice_connections', 0);
  });
}

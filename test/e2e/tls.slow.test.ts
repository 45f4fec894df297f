import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { openPage } from '../helpers/chromium.ts';
import { spawnFor } from '../helpers/child-process.ts';
import { eventually } from '../helpers/eventually.ts';
import { range } from '../helpers/numbers.ts';
import { needs } from '../helpers/services.ts';
import { startWithTls } from './tls-gateway.ts';

test('curl gets a query over HTTP/2 and over HTTP/1.1', needs('curl'), async (t) => {
  const gateway = await startWithTls(t);
  for (const [option, version] of [
    ['--http2', '2'],
    ['--http1.1', '1.1'],
  ] as const) {
    const url = `${gateway.httpUrl}/graphql?query={header(name:"x-user") version}`;
    const written = ['--write-out', ' %{http_version}'];
    const args = ['--silent', '--insecure', '--globoff', option, ...written, '--header', 'x-user: ann', url];
    const child = spawnFor(
      t,
      'curl',
      args.map((arg) => arg.replaceAll(' ver', '%20ver')),
    );
    assert.equal(await text(child.stdout), `{"data":{"header":"ann","version":""}} ${version}`);
  }
});

test(
  'a page has more streams at once than a browser has connections, as they share one',
  needs('chromium'),
  async (t) => {
    const gateway = await startWithTls(t, { GRAPHIQL: 'true', COMPRESSION_MIN_BYTES: '1' });
    const page = await openPage(t, { ignoreHTTPSErrors: true });
    await page.goto(gateway.httpUrl.replace('127.0.0.1', 'localhost'));
    const streams = 20;
    await page.evaluate((count) => {
      const seen: number[] = [];
      Object.assign(globalThis, { seen });
      for (let index = 0; index < count; index += 1) {
        const source = new EventSource(`/graphql?query=${encodeURIComponent('subscription { bid { n } }')}`);
        source.addEventListener('next', (event) => {
          const { data } = JSON.parse((event as MessageEvent).data as string) as {
            data: { bid: { n: number } };
          };
          seen.push(data.bid.n);
        });
      }
    }, streams);
    await gateway.untilMetric('sluice_subscribers', streams);
    for (const n of [1, 2]) await gateway.postEvent('bids', { n });
    await eventually(async () => {
      const seen = await page.evaluate(() => (globalThis as unknown as { seen: number[] }).seen);
      assert.deepEqual(seen.toSorted(), [
        ...range(0, streams).map(() => 1),
        ...range(0, streams).map(() => 2),
      ]);
    });
    const protocols = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map((entry) => (entry as unknown as { nextHopProtocol: string }).nextHopProtocol),
    );
    assert.deepEqual([...new Set(protocols)], ['h2']);
  },
);

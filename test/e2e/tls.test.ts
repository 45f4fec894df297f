import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile } from 'node:fs/promises';
import test from 'node:test';
import { selfSigned } from '../helpers/certificate.ts';
import { openPage } from '../helpers/chromium.ts';
import { spawnFor } from '../helpers/child-process.ts';
import { eventually } from '../helpers/eventually.ts';
import { GATEWAY_DEFAULTS, runCli, startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { range } from '../helpers/numbers.ts';
import type { Scope } from '../helpers/scope.ts';
import { needs, redisUrl } from '../helpers/services.ts';
import { TRANSPORT_CLIENTS } from '../helpers/transport-client.ts';

const SCHEMA = `
  type Query { header(name: String!): String version: String }
  type Subscription { bid: Bid @event(topic: "bids") }
  type Bid { n: Int }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    authenticate: (_params, { headers }) => ({ names: Object.keys(headers), ...headers }),
    resolvers: { Query: {
      header: (_root, { name }, { viewer }) => viewer[name],
      version: (_root, _args, { viewer }) => viewer.names.filter((name) => name.startsWith(':')).join(),
    } },
  });
`;

async function start(scope: Scope, settings: Readonly<Record<string, string>> = {}): Promise<GatewayProcess> {
  const { certificateFile, keyFile } = await selfSigned(scope);
  const folder = await graphFolder(scope, { 'schema.graphql': SCHEMA, 'graph.js': GRAPH });
  return startGateway(scope, { GRAPH: folder, TLS_CERT: certificateFile, TLS_KEY: keyFile, ...settings });
}

test('curl gets a query over HTTP/2 and over HTTP/1.1', needs('curl'), async (t) => {
  const gateway = await start(t);
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
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await once(child, 'close');
    assert.equal(said, `{"data":{"header":"ann","version":""}} ${version}`);
  }
});

test(
  'a page has more streams at once than a browser has connections, as they share one',
  needs('chromium'),
  async (t) => {
    const gateway = await start(t, { GRAPHIQL: 'true' });
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

test('workers share the port with TLS, and each answers', needs('redis'), async (t) => {
  const gateway = await start(t, { WORKERS: '2', REDIS_URL: redisUrl() });
  await gateway.untilReady();
  const { webSocket, eventStream } = TRANSPORT_CLIENTS;
  for (const client of range(0, 6).flatMap(() => [webSocket, eventStream])) {
    const asking = client.ask(t, gateway, { query: '{ version }' });
    assert.deepEqual(await asking.untilPayloads(1), [{ data: { version: '' } }]);
  }
  assert.ok((await gateway.metric('sluice_tls_certificate_expires_seconds')) > Date.now() / 1_000);
});

test('a gateway with a certificate that it can not use does not start, and says why', async (t) => {
  const [one, other] = [await selfSigned(t), await selfSigned(t)];
  await copyFile(other.keyFile, one.keyFile);
  for (const [settings, message] of [
    [{ TLS_CERT: one.certificateFile }, /TLS_KEY: expected a file, as TLS_CERT is set, got nothing/],
    [{ TLS_KEY: one.keyFile }, /TLS_CERT: expected a file, as TLS_KEY is set, got nothing/],
    [
      { TLS_CERT: one.certificateFile, TLS_KEY: one.keyFile },
      /TLS_KEY: expected a file with the key of the certificate/,
    ],
  ] as const) {
    const { code, stderr, stdout } = await runCli(t, ['serve'], { ...GATEWAY_DEFAULTS, ...settings });
    assert.equal(code, 1);
    assert.match(stderr + stdout, message);
    assert.doesNotMatch(stderr + stdout, /PRIVATE KEY/);
  }
});

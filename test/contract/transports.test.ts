import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { selfSigned } from '../helpers/certificate.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { range } from '../helpers/numbers.ts';
import type { Scope } from '../helpers/scope.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { TRANSPORT_CLIENTS, type Asking, type Payload } from '../helpers/transport-client.ts';

const SCHEMA = `
  type Query { me: String }
  type Subscription {
    said(id: ID): Said @event(topic: "said", key: "id")
    kept: Said @event(topic: "kept", history: { size: 100, ttl_seconds: 60 })
    mine: Said @event(topic: "said") @filter(where: { owner: { eq: "$viewer.id" } })
    strict: Strict @event(topic: "said")
    latest: Said @event(topic: "said") @delivery(onSlow: CONFLATE, conflateBy: "id")
  }
  type Said { id: ID n: Int text: String owner: String }
  type Strict { n: Int! must: String! }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    authenticate: ({ user }, { headers }) => {
      const id = user ?? headers['x-user'] ?? 'anonymous';
      return id === 'banned' ? null : { id };
    },
    resolvers: { Query: { me: (_root, _args, { viewer }) => viewer.id } },
  });
`;

const BUFFER_BYTES = 262_144;

type Settings = Readonly<Record<string, string>>;

async function startPlain(scope: Scope, settings: Settings = {}): Promise<GatewayProcess> {
  const folder = await graphFolder(scope, { 'schema.graphql': SCHEMA, 'graph.js': GRAPH });
  return startGateway(scope, {
    GRAPH: folder,
    SOCKET_BUFFER_BYTES: `${BUFFER_BYTES}`,
    MAX_PAYLOAD_BYTES: '1000000',
    // A client that does not read answers no ping.
    PING_SECONDS: '0',
    ...settings,
  });
}

async function startSecure(scope: Scope, settings: Settings = {}): Promise<GatewayProcess> {
  const { certificateFile, keyFile } = await selfSigned(scope);
  return startPlain(scope, { TLS_CERT: certificateFile, TLS_KEY: keyFile, ...settings });
}

/** For as few subscribers as a test has, one of each viewer. */
const LIMITS = { MAX_CONNECTIONS: '3', MAX_OPERATIONS_PER_POD: '2', MAX_CONNECTIONS_PER_VIEWER: '1' };

/** How a client reaches the gateway: with TLS, responses come over HTTP/2, and WebSockets over HTTP/1.1. */
const WAYS = [
  { way: 'plain connections', start: startPlain },
  { way: 'TLS', start: startSecure },
].map(({ way, start }) => ({
  way,
  start,
  shared: sharedGateway(start),
  limited: sharedGateway((scope) => start(scope, { VIEWER_ID: 'id', ...LIMITS })),
}));

const SAID = `subscription Said($id: ID) { said(id: $id) { id n text } }`;
const KEPT = `subscription { kept { n } }`;

const numbersIn = (payloads: readonly Payload[], field = 'said'): unknown[] =>
  payloads.map(({ data }) => (data?.[field] as { n?: unknown } | null | undefined)?.n);

const codeOf = ({ errors }: Payload = {}): string | undefined => errors?.[0]?.extensions?.code;

interface More {
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly extensions?: Readonly<Record<string, unknown>>;
  readonly user?: string;
}

const EACH = WAYS.flatMap((way) =>
  Object.entries(TRANSPORT_CLIENTS).map(([key, client]) => ({ key, client, ...way })),
);

for (const { key, client, way, shared, limited } of EACH) {
  const isWebSocket = key === 'webSocket' || key === 'legacy';
  const subscribed = async (t: TestContext, gateway: GatewayProcess, query: string, more: More = {}) => {
    const before = await gateway.metric('sluice_subscribers');
    const asking = client.ask(t, gateway, { query, ...more });
    await gateway.untilMetric('sluice_subscribers', before + 1);
    return asking;
  };

  describe(`a subscription over ${client.name}, by ${way}`, () => {
    it('gets each event of its key once and in order, of any size and in any script', async (t) => {
      const gateway = await shared();
      const [one, all] = [
        await subscribed(t, gateway, SAID, { variables: { id: 'a' } }),
        await subscribed(t, gateway, SAID),
      ];
      const texts = ['x', 'grün, 緑, 😀 "quoted"\n', 'y'.repeat(50_000), '', 'é'.repeat(100_000)];
      for (const [n, text] of texts.entries()) {
        for (const id of ['a', 'b']) await gateway.postEvent('said', { id, n, text });
      }
      const got = await one.untilPayloads(texts.length);
      assert.deepEqual(
        got,
        texts.map((text, n) => ({ data: { said: { id: 'a', n, text } } })),
      );
      assert.deepEqual(
        numbersIn(await all.untilPayloads(2 * texts.length)),
        texts.flatMap((_, n) => [n, n]),
      );
    });

    it('shares one execution with others of the same document, whatever they are connected by', async (t) => {
      const gateway = await shared();
      const others = await overEach(t, gateway);
      for (const n of range(0, 20)) await gateway.postEvent('said', { id: 'a', n, text: 'x' });
      for (const other of others) assert.deepEqual(numbersIn(await other.untilPayloads(20)), range(0, 20));
      assert.equal(await gateway.metric('sluice_executions_total'), 20);
    });

    it('is told the errors of an execution beside its data, and goes on', async (t) => {
      const gateway = await shared();
      const asking = await subscribed(t, gateway, 'subscription { strict { n must } }');
      await gateway.postEvent('said', { n: 1 });
      await gateway.postEvent('said', { n: 2, must: 'be' });
      const [failed, fine] = await asking.untilPayloads(2);
      assert.equal(failed?.data?.['strict'], null);
      assert.equal(failed?.errors?.length, 1);
      assert.deepEqual(fine, { data: { strict: { n: 2, must: 'be' } } });
    });

    it('is told what is wrong with its document, and ends', async (t) => {
      const gateway = await shared();
      const asking = client.ask(t, gateway, { query: 'subscription { nothing }' });
      assert.deepEqual(await asking.untilEnded(), { how: 'completed' });
      assert.match(asking.payloads[0]?.errors?.[0]?.message ?? '', /Cannot query field "nothing"/);
    });

    it('may be a query, whose result is the only one', async (t) => {
      const gateway = await shared();
      const asking = client.ask(t, gateway, { query: '{ me }', user: 'ann' });
      assert.deepEqual(await asking.untilEnded(), { how: 'completed' });
      assert.deepEqual(asking.payloads, [{ data: { me: 'ann' } }]);
    });

    it('leaves the hub once its client stops, or is gone', async (t) => {
      const gateway = await shared();
      const [stops, goes, stays] = [
        await subscribed(t, gateway, SAID),
        await subscribed(t, gateway, SAID),
        await subscribed(t, gateway, SAID),
      ];
      stops.stop();
      await gateway.untilMetric('sluice_subscribers', 2);
      goes.destroy();
      await gateway.untilMetric('sluice_subscribers', 1);
      await gateway.postEvent('said', { id: 'a', n: 1 });
      assert.deepEqual(numbersIn(await stays.untilPayloads(1)), [1]);
      assert.deepEqual([...stops.payloads, ...goes.payloads], []);
    });

    it('has the identity that its client connects with', async (t) => {
      const gateway = await shared();
      const [ann, bob] = [
        await subscribed(t, gateway, 'subscription { mine { n } }', { user: 'ann' }),
        await subscribed(t, gateway, 'subscription { mine { n } }', { user: 'bob' }),
      ];
      for (const [n, owner] of ['ann', 'bob', 'ann'].entries()) await gateway.postEvent('said', { n, owner });
      assert.deepEqual(numbersIn(await ann.untilPayloads(2), 'mine'), [0, 2]);
      assert.deepEqual(numbersIn(await bob.untilPayloads(1), 'mine'), [1]);
      assert.equal(
        (await client.ask(t, gateway, { query: SAID, user: 'banned' }).untilEnded()).how,
        'refused',
      );
    });

    it('ends as too slow where its client stops reading, and the others get all', async (t) => {
      const gateway = await shared();
      const [stalled, reads] = [await subscribed(t, gateway, SAID), await subscribed(t, gateway, SAID)];
      await gateway.postEvent('said', { id: 'a', n: 0 });
      await stalled.untilPayloads(1);
      stalled.pause();
      const sent = [0];
      const text = 'x'.repeat(50_000);
      while ((await gateway.metric('sluice_closes_total{code="1013",reason="too_slow"}')) === 0) {
        assert.ok(sent.length < 2_000, 'expected the client that reads nothing to be closed');
        for (let more = 0; more < 20; more += 1) {
          await gateway.postEvent('said', { id: 'a', n: sent.length, text });
          sent.push(sent.length);
        }
      }
      await gateway.untilMetric('sluice_subscribers', 1);
      assert.deepEqual(numbersIn(await reads.untilPayloads(sent.length)), sent);
    });

    it('gets the latest of each key where it is slow and the schema lets events be left out', async (t) => {
      const gateway = await shared();
      const asking = await subscribed(t, gateway, 'subscription { latest { n text } }', {
        extensions: { gaps: true },
      });
      await gateway.postEvent('said', { id: 'a', n: 0 });
      await asking.untilPayloads(1);
      asking.pause();
      let n = 0;
      while ((await gateway.metric('sluice_left_out_results_total')) < 10) {
        assert.ok(n < 5_000, 'expected events to be left out');
        for (let more = 0; more < 20; more += 1) {
          await gateway.postEvent('said', { id: 'a', n: ++n, text: 'x'.repeat(20_000) });
        }
      }
      asking.resume();
      await asking.until(({ payloads }) => numbersIn(payloads, 'latest').at(-1) === n);
      const got = numbersIn(asking.payloads, 'latest');
      const skipped = asking.payloads.map(
        ({ extensions }) => (extensions?.['gap'] as { skipped: number } | undefined)?.skipped ?? 0,
      );
      assert.equal(got.length + skipped.reduce((sum, more) => sum + more, 0), n + 1);
    });

    it('goes on from its cursor behind a lost connection', async (t) => {
      const gateway = await shared();
      const first = await subscribed(t, gateway, KEPT, { extensions: { resume: null } });
      await gateway.postEvent('kept', { n: 1 });
      const [greeting, one] = await first.untilPayloads(2);
      assert.equal(greeting?.data, null);
      assert.deepEqual(numbersIn([one as Payload], 'kept'), [1]);
      first.destroy();
      await gateway.untilMetric('sluice_subscribers', 0);
      for (const n of [2, 3]) await gateway.postEvent('kept', { n });
      const resume = one?.extensions?.['cursor'];
      assert.equal(typeof resume, 'string');
      const second = await subscribed(t, gateway, KEPT, { extensions: { resume } });
      await gateway.postEvent('kept', { n: 4 });
      const [told, ...missed] = await second.untilPayloads(4);
      assert.equal(told?.extensions?.['recovered'], true);
      assert.deepEqual(numbersIn(missed, 'kept'), [2, 3, 4]);
      const lost = await subscribed(t, gateway, KEPT, { extensions: { resume: 'no cursor' } });
      assert.equal((await lost.untilPayloads(1))[0]?.extensions?.['recovered'], false);
    });

    it('is refused by a pod that has as many as it takes', async (t) => {
      const gateway = await limited();
      for (const user of ['ann', 'bob']) await subscribed(t, gateway, SAID, { user });
      const third = client.ask(t, gateway, { query: SAID, user: 'cid' });
      await third.until(({ payloads, ending }) => payloads.length > 0 || ending !== undefined);
      assert.equal(codeOf(third.payloads[0]), 'POD_FULL');
      // The third one's socket is still there, or has gone with its only operation.
      const fourth = isWebSocket ? client.ask(t, gateway, { query: SAID, user: 'dan' }) : undefined;
      if (fourth !== undefined) assert.deepEqual(await fourth.untilEnded(), { how: 'refused', code: 503 });
      assert.equal(await gateway.metric('sluice_subscribers'), 2);
    });

    it('of a viewer with as many connections as it may have is refused', async (t) => {
      const gateway = await limited();
      const first = await subscribed(t, gateway, SAID, { user: 'ann' });
      const refused = await client.ask(t, gateway, { query: SAID, user: 'ann' }).untilEnded();
      if (isWebSocket) assert.notEqual(refused.how, 'completed');
      else assert.deepEqual(refused, { how: 'refused', code: 429 });
      await subscribed(t, gateway, SAID, { user: 'bob' });
      first.destroy();
      await gateway.untilMetric('sluice_connections', 1);
      await subscribed(t, gateway, SAID, { user: 'ann' });
    });
  });
}

/** What the last message says of a pod that drains, or else the code of the close frame. */
const DRAINED: Readonly<Record<keyof typeof TRANSPORT_CLIENTS, number | string | undefined>> = {
  webSocket: 1012,
  legacy: 1012,
  eventStream: undefined,
  multipart: 'SERVICE_RESTART',
};

/** One subscriber over each transport. */
async function overEach(t: TestContext, gateway: GatewayProcess): Promise<readonly Asking[]> {
  const askings = Object.values(TRANSPORT_CLIENTS).map((client) => client.ask(t, gateway, { query: SAID }));
  await gateway.untilMetric('sluice_subscribers', askings.length);
  return askings;
}

for (const { way, start } of WAYS) {
  describe(`subscriptions over all transports, by ${way}`, () => {
    it('are kept in use while no event comes', async (t) => {
      const gateway = await start(t, { PING_SECONDS: '3' });
      const askings = await overEach(t, gateway);
      const before = askings.map(({ heartbeats }) => heartbeats);
      for (const [index, asking] of askings.entries())
        await asking.until(({ heartbeats }) => heartbeats >= (before[index] ?? 0) + 2);
      await gateway.postEvent('said', { id: 'a', n: 1 });
      for (const asking of askings) assert.deepEqual(numbersIn(await asking.untilPayloads(1)), [1]);
    });

    it('get all that was sent before their pod drains, and are to connect again', async (t) => {
      const gateway = await start(t);
      const askings = await overEach(t, gateway);
      for (const n of range(0, 50)) await gateway.postEvent('said', { id: 'a', n });
      assert.equal(await gateway.stop(), 0);
      for (const [index, key] of (Object.keys(DRAINED) as (keyof typeof DRAINED)[]).entries()) {
        const asking = askings[index];
        assert.deepEqual(await asking?.untilEnded(), { how: 'closed', code: DRAINED[key] }, key);
        assert.deepEqual(numbersIn(asking?.payloads.slice(0, 50) ?? []), range(0, 50), key);
      }
    });
  });
}

import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { describe, it, type TestContext } from 'node:test';
import timers from 'node:timers/promises';
import type { KafkaSourceState, PartitionState } from '../../../../src/ingest/kafka/state.ts';
import { Table } from '../../../../src/support/table.ts';
import { Recordings } from '../../../../src/server/debug/recordings.ts';
import { debugRoutes, type DebugOptions } from '../../../../src/server/debug/routes.ts';
import { readAllocationProfile, readCpuProfile } from '../../../helpers/devtools-files.ts';
import { range } from '../../../helpers/numbers.ts';
import { fileScope, type Scope } from '../../../helpers/scope.ts';
import { ask, dial, errorOf, essence, serve, silent } from '../serve.ts';
import { deferred } from '../../../helpers/deferred.ts';

const RECORDINGS = ['heap-snapshot', 'cpu-profile', 'allocation-profile'];
const TABLES = ['connections', 'groups', 'channels', 'partitions'];
const STATES = ['hub', 'ingest', 'pressure', 'process', 'workers'];
const PATHS = [...RECORDINGS, ...STATES, ...TABLES, '', 'page.js'].map((name) => `/debug/${name}`);

const table = (rows: readonly number[] = []): Table<number> =>
  new Table<number>({
    size: () => rows.length,
    items: () => rows,
    columns: { lag: Number, waitingBytes: Number, subscribers: Number, name: (row) => `row ${row}` },
    text: (row) => `Row ${row}`,
    row: (row) => ({ row }),
  });

const emptyHub = {
  groups: { count: 0, largest: [] as object[] },
  channels: { count: 0, largest: [] as object[] },
  executions: { running: 0, waiting: 0, late: 0 },
};

const hub = { inspect: (_limit: number) => emptyHub, groups: table(), channels: table() };

const inspectable: DebugOptions['inspectable'] = {
  explainer: { topics: [], shows: () => false, explain: () => undefined, last: () => undefined },
  hub,
  connections: {
    inspect: () => ({ count: 0 }),
    table: table(),
    size: 3,
    handshakes: { size: 1 },
    pod: { operations: 2 },
  },
  addresses: { inspect: () => ({ count: 0 }) },
  kafka: undefined,
  pressure: { inspect: () => null },
};

/** Consumes these partitions of a topic. */
function consuming(...partitions: readonly Partial<PartitionState>[]): { inspect(): KafkaSourceState } {
  const usual = { topic: 'bids', position: 1, highWatermark: 8, lag: 0, lagSeconds: 0 };
  return {
    inspect: () => ({
      connected: true,
      lastError: 'a fault',
      partitions: partitions.map((rest, partition) => ({
        ...usual,
        partition,
        state: 'consuming',
        reason: 'none',
        ...rest,
      })),
    }),
  };
}

const memory = () => ({ used: 1, available: 1_000_000_000 });

async function served(scope: Scope, parts: Partial<DebugOptions['inspectable']> = {}): Promise<number> {
  return serve(scope, await debugRoutes({ inspectable: { ...inspectable, ...parts }, memory, log: silent }));
}

/** The usual one. */
const port = await served(fileScope());

const read = async <T>(from: number, path: string): Promise<T> =>
  JSON.parse((await ask(from, `/debug/${path}`)).body) as T;

describe('/debug/', () => {
  it('answers clients on other machines exactly like a path that does not exist', async () => {
    const headers = { host: 'gateway.example' };
    for (const path of PATHS) {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
        const answer = await ask(port, path, { method, headers });
        assert.deepEqual(essence(answer), essence(await ask(port, '/nowhere', { method, headers })), path);
        assert.equal(answer.status, 404);
      }
    }
  });

  it('takes GET only: a HEAD would record without an answer', async () => {
    for (const path of PATHS) {
      for (const method of ['HEAD', 'POST']) assert.equal((await ask(port, path, { method })).status, 405);
    }
  });

  it('answers requests of the user and of its own pages, and refuses those of other sites', async () => {
    const expected = { none: 200, 'same-origin': 200, 'same-site': 403, 'cross-site': 403 };
    for (const [site, status] of Object.entries(expected)) {
      const answer = await ask(port, '/debug/hub', { headers: { 'sec-fetch-site': site } });
      assert.equal(answer.status, status, site);
    }
  });

  it('lets a page at another port of this machine, which another pod has served, explain, and read nothing else', async () => {
    const neighbour = { origin: 'http://127.0.0.1:4002', 'sec-fetch-site': 'same-site' };
    const explain = '/debug/explain?topic=bids&offset=0';
    for (const path of ['/debug/workers', explain]) {
      const { status, headers } = await ask(port, path, { headers: neighbour });
      assert.notEqual(status, 403, path);
      assert.equal(headers['access-control-allow-origin'], neighbour.origin, path);
      for (const other of [
        { origin: 'http://127.0.0.1.example' },
        { origin: 'http://evil.example:4002' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site' },
      ]) {
        const refused = await ask(port, path, { headers: { ...neighbour, ...other } });
        assert.equal(refused.status, 403, path);
        assert.equal(refused.headers['access-control-allow-origin'], undefined);
      }
    }
    assert.equal((await ask(port, '/debug/hub', { headers: neighbour })).status, 403);
  });
});

/** Has work done in place of the time that a recording takes. @returns a profile, which is to take a second */
async function recordedWhile(t: TestContext, name: string, extension: string, work: () => void) {
  const waited = t.mock.method(timers, 'setTimeout', async () => work());
  syncBuiltinESMExports();
  t.after(() => {
    waited.mock.restore();
    syncBuiltinESMExports();
  });
  const { status, headers, body } = await ask(port, `/debug/${name}?seconds=1`);
  assert.equal(status, 200);
  assert.match(headers['content-disposition'] ?? '', new RegExp(`\\.${extension}"$`));
  const waits = waited.mock.calls.map(({ arguments: [ms] }: { arguments: unknown[] }) => ms);
  assert.deepEqual(waits, [1_000]);
  return body;
}

/** @returns status and error of a question of the topic */
async function refusal(from: number | undefined, topic: string): Promise<unknown> {
  const { status, body } = await ask(from ?? 0, `/debug/explain?topic=${topic}`);
  return [status, (JSON.parse(body) as { error: string }).error];
}

describe('explain', () => {
  it('refuses a topic that the graph does not have, before anything is recorded, and names those that it has', async (t) => {
    const asked = t.mock.fn(() => undefined);
    const graphs = [['sales', 'bids', 'listings'], []];
    const [some, none] = await Promise.all(
      graphs.map((topics) =>
        served(t, {
          explainer: {
            topics,
            shows: (topic: string) => topics.includes(topic),
            explain: asked,
            last: asked,
          },
        }),
      ),
    );
    for (const [topic, names] of [
      ['listing', 'listings, bids, sales'],
      ['orders', 'bids, listings, sales'],
    ] as const) {
      const error = `topic: expected one of the graph's, ${names}, got "${topic}"`;
      assert.deepEqual(await refusal(some, topic), [404, error]);
    }
    assert.deepEqual(await refusal(none, 'bids'), [
      404,
      'topic: expected a topic of the graph, which has none, got "bids"',
    ]);
    assert.equal(asked.mock.callCount(), 0);
    await ask(some ?? 0, '/debug/explain?topic=bids');
    assert.equal(asked.mock.callCount(), 1);
  });
});

describe('profiles', () => {
  it('of the CPU are sent as files that Chrome DevTools open', async (t) => {
    const body = await recordedWhile(t, 'cpu-profile', 'cpuprofile', function spin() {
      // Time of the processor: on a busy machine, samples miss who waits for it.
      for (const begin = process.cpuUsage(); process.cpuUsage(begin).user < 50_000;);
    });
    const { functions, duration } = readCpuProfile(body);
    assert.ok(functions.has('spin'));
    assert.ok(duration >= 20_000);
  });

  it('of allocations are sent as files that Chrome DevTools open, with objects that were collected since', async (t) => {
    const body = await recordedWhile(t, 'allocation-profile', 'heapprofile', () => {
      range(0, 500_000).map((index) => ({ index }));
      globalThis.gc?.();
    });
    const allocated = [...readAllocationProfile(body).values()].reduce((sum, bytes) => sum + bytes, 0);
    assert.ok(allocated > 5_000_000, `${allocated} bytes`);
  });

  it('are refused for no time, too long a time, and what is no whole number', async () => {
    for (const seconds of ['0', '61', '1e1', '']) {
      const answer = await ask(port, `/debug/cpu-profile?seconds=${seconds}`);
      assert.equal(answer.status, 400);
      assert.equal(errorOf(answer), `seconds: expected a whole number from 1 to 60, got "${seconds}"`);
    }
  });

  it('are taken one at a time, beside no heap snapshot, and end when their client leaves', async (t) => {
    const [begun, ended] = [deferred<Recordings>(), deferred<Error>()];
    const { alone } = Recordings.prototype;
    function watched(this: Recordings, ...given: Parameters<typeof alone>): Promise<void> {
      const recording = alone.apply(this, given);
      recording.catch(ended.resolve);
      begun.resolve(this);
      return recording;
    }
    t.mock.method(Recordings.prototype, 'alone', watched, { times: 1 });
    const asked = 'GET /debug/cpu-profile?seconds=60 HTTP/1.1\r\nhost: localhost\r\n\r\n';
    const client = dial(t, port, asked);
    const recordings = await begun.promise;
    for (const name of RECORDINGS) {
      const answer = await ask(port, `/debug/${name}`);
      assert.equal(answer.status, 409);
      assert.match(errorOf(answer), /expected no other recording in progress, got a CPU profile$/);
    }
    client.destroy();
    assert.equal((await ended.promise).name, 'AbortError');
    let ran = false;
    await recordings.alone('the next one', async () => void (ran = true));
    assert.ok(ran);
  });
});

describe('/debug/hub', () => {
  it('lists as many groups and channels as the client asks for, 100 by default', async (t) => {
    const inspect = t.mock.method(hub, 'inspect');
    for (const query of ['', '?limit=7', '?limit=1000']) {
      assert.equal((await ask(port, `/debug/hub${query}`)).status, 200);
    }
    const limits = inspect.mock.calls.map((call) => call.arguments[0]);
    assert.deepEqual(limits, [100, 7, 1_000]);
    const answer = await ask(port, '/debug/hub?limit=1001');
    assert.equal(answer.status, 400);
    assert.equal(errorOf(answer), 'limit: expected a whole number from 1 to 1000, got "1001"');
  });

  it('lists fewer where documents, variables or names are long, and counts all of them', async (t) => {
    const group = { document: 'x'.repeat(100_000) };
    t.mock.method(hub, 'inspect', (limit: number) => ({
      ...emptyHub,
      groups: { count: 5_000, largest: range(0, limit).map(() => group) },
      channels: { count: 2, largest: [{ name: 'short' }, { name: 'x'.repeat(5_000_000) }] },
    }));
    const { groups, channels } = await read<typeof emptyHub>(port, 'hub?limit=1000');
    assert.equal(groups.count, 5_000);
    assert.equal(groups.largest.length, 41);
    assert.deepEqual(channels, { count: 2, largest: [{ name: 'short' }] });
  });
});

describe('/debug/ingest', () => {
  it('shows where Kafka is consumed, and null where it is not', async (t) => {
    const kafka = consuming({ lag: 7 });
    const shown = await read<{ kafka: KafkaSourceState }>(await served(t, { kafka }), 'ingest');
    assert.deepEqual(shown.kafka.partitions, kafka.inspect().partitions);
    assert.deepEqual(await read(port, 'ingest'), { kafka: null });
  });
});

describe('tables', () => {
  interface Listed {
    readonly rows: readonly { readonly row: number }[];
  }
  it('list the first rows in the order of a column, and say how many there are in all', async (t) => {
    const from = await served(t, { hub: { ...hub, channels: table(range(0, 250)) } });
    const list = async (query: string) => {
      const { rows, ...rest } = await read<Listed>(from, `channels${query}`);
      return { ...rest, rows: rows.map(({ row }) => row) };
    };
    const asked = { sort: 'subscribers', order: 'desc', limit: 100, search: '' };
    const rows = range(150, 250).toReversed();
    assert.deepEqual(await list(''), { ...asked, count: 250, matching: 250, rows });
    const other = { sort: 'name', order: 'asc', limit: 3, search: 'ROW 2' };
    assert.deepEqual(await list('?sort=name&order=asc&limit=3&search=ROW%202'), {
      ...other,
      count: 250,
      matching: 61,
      rows: [2, 20, 200],
    });
  });

  it('are refused for what they do not know, with what they do', async () => {
    const columns = 'lag, waitingBytes, subscribers, name';
    for (const [query, message] of [
      ['sort=toString', `sort: expected one of ${columns}, got "toString"`],
      ['order=up', 'order: expected one of asc, desc, got "up"'],
      ['limit=1001', 'limit: expected a whole number from 1 to 1000, got "1001"'],
      [`search=${'x'.repeat(201)}`, 'search: expected at most 200 characters, got 201'],
    ]) {
      const answer = await ask(port, `/debug/channels?${query}`);
      assert.deepEqual([answer.status, errorOf(answer)], [400, message]);
    }
  });

  it('of the partitions put those first that lag most, and those last of which it is not known', async (t) => {
    const kafka = consuming({ lag: 5 }, { lag: undefined }, { lag: 70, state: 'held', reason: 'why' });
    const { rows } = await read<{ rows: PartitionState[] }>(await served(t, { kafka }), 'partitions');
    const lags = rows.map(({ partition, lag }) => `${partition}: ${lag}`);
    assert.deepEqual(lags, ['2: 70', '0: 5', '1: null']);
  });
});

describe('/debug/process', () => {
  it('shows what the process holds in a few figures', async (t) => {
    const kafka = consuming({ lag: 5, lagSeconds: 2 }, { lag: undefined, lagSeconds: 7, state: 'stopped' });
    const shown = await read<Record<string, unknown>>(await served(t, { kafka }), 'process');
    const { pid, connections, handshakes, operations, groups, channels } = shown;
    assert.deepEqual(
      { pid, connections, handshakes, operations, groups, channels },
      { pid: process.pid, connections: 3, handshakes: 1, operations: 2, groups: 0, channels: 0 },
    );
    const partitions = { partitions: 2, notConsuming: 1, lag: 5, lagSeconds: 7 };
    assert.deepEqual(shown['kafka'], { connected: true, lastError: 'a fault', ...partitions });
    const { residentBytes, heapUsedBytes, heapLimitBytes } = shown['memory'] as Record<string, number>;
    const used = Number(heapUsedBytes);
    assert.ok(used < Number(residentBytes) && used < Number(heapLimitBytes));
  });
});

describe('the page at /debug/', () => {
  it('refers only to files that the gateway serves', async () => {
    const { status, headers, body } = await ask(port, '/debug/');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    const names = new Set([...body.matchAll(/(?:src|href)="([^"?]+\.(?:js|css))"/g)].map(([, name]) => name));
    // Files that a file imports join those that are looked at.
    for (const name of names) {
      const file = await ask(port, `/debug/${name}`);
      assert.equal(file.status, 200, name);
      assert.match(file.headers['content-type'] ?? '', /^text\/(css|javascript)/);
      const foreign = /https?:\/\/(?!www\.w3\.org)|innerHTML|insertAdjacentHTML|\beval\b/;
      assert.doesNotMatch(file.body, foreign, name);
      for (const [, imported] of file.body.matchAll(/from '\.\/([^']+)'/g)) names.add(imported);
    }
    assert.ok(names.has('page.js') && names.has('table-view.js') && names.has('chart.js'));
    assert.doesNotMatch(body, /https?:\/\/(?!www\.w3\.org)|\son\w+=|<script>|style=/);
  });

  it('allows the page no inline scripts, and no host but this machine', async () => {
    const policy = String((await ask(port, '/debug/')).headers['content-security-policy']);
    assert.match(policy, /default-src 'none'.*script-src 'self';/);
    assert.match(policy, /connect-src 'self' http:\/\/localhost:\* http:\/\/127\.0\.0\.1:\*;/);
    assert.doesNotMatch(policy.replaceAll(/ http:\/\/(localhost|127\.0\.0\.1):\*/g, ''), /https?:|\*|unsafe/);
  });

  it('serves no other file', async () => {
    for (const name of ['page.html', 'graphiql/page.js', '../../gateway.js', '..%2frouter.js', 'nope']) {
      assert.equal((await ask(port, `/debug/${name}`)).status, 404, name);
    }
  });
});

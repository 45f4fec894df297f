import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { KafkaSourceState, PartitionState } from '../../../../src/ingest/kafka/state.ts';
import { Table } from '../../../../src/support/table.ts';
import type { Memory } from '../../../../src/server/debug/heap-snapshot.ts';
import { Recordings } from '../../../../src/server/debug/recordings.ts';
import { debugRoutes, type DebugOptions } from '../../../../src/server/debug/routes.ts';
import { readAllocationProfile, readCpuProfile } from '../../../helpers/devtools-files.ts';
import { ask, deferred, errorOf, essence, serve, silent } from '../serve.ts';

const RECORDINGS = ['/debug/heap-snapshot', '/debug/cpu-profile', '/debug/allocation-profile'];
const TABLES = ['connections', 'groups', 'channels', 'partitions'].map((name) => `/debug/${name}`);
const PATHS = [
  ...RECORDINGS,
  '/debug/hub',
  '/debug/ingest',
  '/debug/pressure',
  '/debug/process',
  '/debug/workers',
  ...TABLES,
  '/debug/',
  '/debug/page.js',
];

const enough: Memory = { used: 1, available: 1_000_000_000 };

const table = (rows: number[] = []): Table<number> =>
  new Table<number>({
    size: () => rows.length,
    items: () => rows,
    columns: { lag: Number, waitingBytes: Number, subscribers: Number, name: (row) => `row ${row}` },
    text: (row) => `Row ${row}`,
    row: (row) => ({ row }),
  });

const emptyHub = {
  groups: { count: 0, largest: [] },
  channels: { count: 0, largest: [] },
  executions: { running: 0, waiting: 0, late: 0 },
};

const inspectable: DebugOptions['inspectable'] = {
  explainer: { explain: () => undefined },
  hub: { inspect: () => emptyHub, groups: table(), channels: table() },
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
function consuming(partitions: readonly Partial<PartitionState>[]): { inspect(): KafkaSourceState } {
  return {
    inspect: () => ({
      connected: true,
      lastError: 'a fault',
      partitions: partitions.map((rest, partition) => ({
        topic: 'bids',
        partition,
        position: 1,
        highWatermark: 8,
        lag: 0,
        lagSeconds: 0,
        state: 'consuming',
        reason: 'none',
        ...rest,
      })),
    }),
  };
}

async function served(t: TestContext, options: Partial<DebugOptions> = {}): Promise<number> {
  return serve(
    t,
    await debugRoutes({
      inspectable,
      memory: () => enough,
      log: silent,
      ...options,
    }),
  );
}

describe('/debug/', () => {
  it('answers clients on other machines exactly like a path that does not exist', async (t) => {
    const port = await served(t);
    const headers = { host: 'gateway.example' };
    for (const path of PATHS) {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
        const answer = await ask(port, path, { method, headers });
        assert.deepEqual(essence(answer), essence(await ask(port, '/nowhere', { method, headers })), path);
        assert.equal(answer.status, 404);
      }
    }
  });

  it('takes GET only: a HEAD would record without an answer', async (t) => {
    const port = await served(t);
    for (const path of PATHS) {
      for (const method of ['HEAD', 'POST']) assert.equal((await ask(port, path, { method })).status, 405);
    }
  });

  it('answers requests of the user and of its own pages, and refuses those of other sites', async (t) => {
    const port = await served(t);
    const from = (site: string) => ask(port, '/debug/hub', { headers: { 'sec-fetch-site': site } });
    for (const site of ['none', 'same-origin']) assert.equal((await from(site)).status, 200, site);
    for (const site of ['same-site', 'cross-site']) assert.equal((await from(site)).status, 403, site);
  });
});

describe('profiles', () => {
  it('of the CPU are sent as files that Chrome DevTools open', async (t) => {
    const port = await served(t);
    const busy = setInterval(function spin() {
      for (const end = performance.now() + 5; performance.now() < end;);
    }, 10);
    t.after(() => clearInterval(busy));
    const { status, headers, body } = await ask(port, '/debug/cpu-profile?seconds=1');
    assert.equal(status, 200);
    assert.match(headers['content-disposition'] ?? '', /\.cpuprofile"$/);
    const { functions, duration } = readCpuProfile(body);
    assert.ok(functions.has('spin'));
    assert.ok(duration >= 1_000_000);
  });

  it('of allocations are sent as files that Chrome DevTools open, with objects that were collected since', async (t) => {
    const port = await served(t);
    const busy = setInterval(function allocate() {
      Array.from({ length: 200_000 }, (_, index) => ({ index }));
    }, 10);
    t.after(() => clearInterval(busy));
    const { status, headers, body } = await ask(port, '/debug/allocation-profile?seconds=1');
    assert.equal(status, 200);
    assert.match(headers['content-disposition'] ?? '', /\.heapprofile"$/);
    const allocated = [...readAllocationProfile(body).values()].reduce((sum, bytes) => sum + bytes, 0);
    assert.ok(allocated > 5_000_000, `${allocated} bytes`);
  });

  for (const seconds of ['0', '61', '-1', '1.5', '1e1', 'ten', '']) {
    it(`are refused for ${JSON.stringify(seconds)} seconds`, async (t) => {
      const answer = await ask(await served(t), `/debug/cpu-profile?seconds=${seconds}`);
      assert.equal(answer.status, 400);
      assert.equal(
        errorOf(answer),
        `seconds: expected a whole number from 1 to 60, got ${JSON.stringify(seconds)}`,
      );
    });
  }

  it('are taken one at a time, beside no heap snapshot, and end when their client leaves', async (t) => {
    const [begun, ended] = [deferred<Recordings>(), deferred<Error>()];
    const { alone } = Recordings.prototype;
    t.mock.method(
      Recordings.prototype,
      'alone',
      function (this: Recordings, ...given: Parameters<typeof alone>): Promise<void> {
        const recording = alone.apply(this, given);
        recording.catch(ended.resolve);
        begun.resolve(this);
        return recording;
      },
      { times: 1 },
    );
    const port = await served(t);
    const client = connect(port, 'localhost');
    client.write('GET /debug/cpu-profile?seconds=60 HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const recordings = await begun.promise;
    for (const path of RECORDINGS) {
      const answer = await ask(port, path);
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
    const limits: number[] = [];
    const hub = {
      ...inspectable.hub,
      inspect: (limit: number) => {
        limits.push(limit);
        return emptyHub;
      },
    };
    const port = await served(t, { inspectable: { ...inspectable, hub } });
    for (const query of ['', '?limit=7', '?limit=1000']) {
      assert.equal((await ask(port, `/debug/hub${query}`)).status, 200);
    }
    assert.deepEqual(limits, [100, 7, 1_000]);
    const answer = await ask(port, '/debug/hub?limit=1001');
    assert.equal(answer.status, 400);
    assert.equal(errorOf(answer), 'limit: expected a whole number from 1 to 1000, got "1001"');
  });

  it('lists fewer where documents, variables or names are long, and counts all of them', async (t) => {
    const group = { document: 'x'.repeat(100_000) };
    const hub = {
      ...inspectable.hub,
      inspect: (limit: number) => ({
        ...emptyHub,
        groups: { count: 5_000, largest: Array.from({ length: limit }, () => group) },
        channels: { count: 2, largest: [{ name: 'short' }, { name: 'x'.repeat(5_000_000) }] },
      }),
    };
    const port = await served(t, { inspectable: { ...inspectable, hub } });
    const { body } = await ask(port, '/debug/hub?limit=1000');
    const { groups, channels } = JSON.parse(body) as typeof emptyHub;
    assert.equal(groups.count, 5_000);
    assert.equal(groups.largest.length, 41);
    assert.deepEqual(channels, { count: 2, largest: [{ name: 'short' }] });
  });
});

describe('/debug/ingest', () => {
  it('shows where Kafka is consumed, and null where it is not', async (t) => {
    const kafka = consuming([{ lag: 7 }]);
    const [one, other] = [await served(t, { inspectable: { ...inspectable, kafka } }), await served(t)];
    const shown = JSON.parse((await ask(one, '/debug/ingest')).body) as { kafka: { partitions: object[] } };
    assert.deepEqual(shown.kafka.partitions, kafka.inspect().partitions);
    assert.deepEqual(JSON.parse((await ask(other, '/debug/ingest')).body), { kafka: null });
  });
});

describe('tables', () => {
  interface Listed {
    readonly count: number;
    readonly matching: number;
    readonly sort: string;
    readonly order: string;
    readonly rows: readonly { readonly row: number }[];
  }
  const channels = table(Array.from({ length: 250 }, (_, row) => row));
  const list = async (port: number, query: string): Promise<Listed> =>
    JSON.parse((await ask(port, `/debug/channels${query}`)).body) as Listed;
  const servedChannels = (t: TestContext) =>
    served(t, { inspectable: { ...inspectable, hub: { ...inspectable.hub, channels } } });

  it('list the first rows in the order of a column, and say how many there are in all', async (t) => {
    const port = await servedChannels(t);
    const { rows, ...rest } = await list(port, '');
    assert.deepEqual(
      rows.map(({ row }) => row),
      Array.from({ length: 100 }, (_, index) => 249 - index),
    );
    const asked = { sort: 'subscribers', order: 'desc', limit: 100, search: '' };
    assert.deepEqual(rest, { ...asked, count: 250, matching: 250 });
    const other = await list(port, '?sort=name&order=asc&limit=3&search=ROW%202');
    assert.deepEqual(
      other.rows.map(({ row }) => row),
      [2, 20, 200],
    );
    assert.equal(other.count, 250);
    assert.equal(other.matching, 61);
  });

  it('are refused for what they do not know, with what they do', async (t) => {
    const port = await servedChannels(t);
    const refused = async (query: string): Promise<string> => {
      const answer = await ask(port, `/debug/channels?${query}`);
      assert.equal(answer.status, 400);
      return errorOf(answer);
    };
    const columns = 'lag, waitingBytes, subscribers, name';
    assert.equal(await refused('sort=toString'), `sort: expected one of ${columns}, got "toString"`);
    assert.equal(await refused('order=up'), 'order: expected one of asc, desc, got "up"');
    assert.equal(await refused('limit=1001'), 'limit: expected a whole number from 1 to 1000, got "1001"');
    assert.equal(
      await refused(`search=${'x'.repeat(201)}`),
      'search: expected at most 200 characters, got 201',
    );
  });

  it('of the partitions put those first that lag most, and those last of which it is not known', async (t) => {
    const kafka = consuming([{ lag: 5 }, { lag: undefined }, { lag: 70, state: 'held', reason: 'why' }]);
    const port = await served(t, { inspectable: { ...inspectable, kafka } });
    const { rows } = JSON.parse((await ask(port, '/debug/partitions')).body) as {
      rows: readonly { readonly partition: number; readonly lag: number | null }[];
    };
    assert.deepEqual(
      rows.map(({ partition, lag }) => [partition, lag]),
      [
        [2, 70],
        [0, 5],
        [1, null],
      ],
    );
  });
});

describe('/debug/process', () => {
  it('shows what the process holds in a few figures', async (t) => {
    const kafka = consuming([
      { lag: 5, lagSeconds: 2 },
      { lag: undefined, lagSeconds: 7, state: 'stopped' },
    ]);
    const port = await served(t, { inspectable: { ...inspectable, kafka } });
    const { pid, connections, handshakes, operations, groups, channels, ...rest } = JSON.parse(
      (await ask(port, '/debug/process')).body,
    ) as Record<string, unknown>;
    assert.deepEqual(
      { pid, connections, handshakes, operations, groups, channels },
      { pid: process.pid, connections: 3, handshakes: 1, operations: 2, groups: 0, channels: 0 },
    );
    assert.deepEqual(rest['kafka'], {
      connected: true,
      lastError: 'a fault',
      partitions: 2,
      notConsuming: 1,
      lag: 5,
      lagSeconds: 7,
    });
    const { residentBytes, heapUsedBytes, heapLimitBytes } = rest['memory'] as Record<string, number>;
    assert.ok(
      Number(heapUsedBytes) < Number(residentBytes) && Number(heapUsedBytes) < Number(heapLimitBytes),
    );
  });
});

describe('the page at /debug/', () => {
  it('refers only to files that the gateway serves', async (t) => {
    const port = await served(t);
    const { status, headers, body } = await ask(port, '/debug/');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    const names = new Set([...body.matchAll(/(?:src|href)="([^"?]+\.(?:js|css))"/g)].map(([, name]) => name));
    // Files that a file imports join those that are looked at.
    for (const name of names) {
      const file = await ask(port, `/debug/${name}`);
      assert.equal(file.status, 200, name);
      assert.match(file.headers['content-type'] ?? '', /^text\/(css|javascript)/);
      assert.doesNotMatch(
        file.body,
        /https?:\/\/(?!www\.w3\.org)|innerHTML|insertAdjacentHTML|\beval\b/,
        name,
      );
      for (const [, imported] of file.body.matchAll(/from '\.\/([^']+)'/g)) names.add(imported);
    }
    assert.ok(names.has('page.js') && names.has('table-view.js') && names.has('chart.js'));
    assert.doesNotMatch(body, /https?:\/\/(?!www\.w3\.org)|\son\w+=|<script>|style=/);
  });

  it('allows the page no inline scripts and no other host', async (t) => {
    const { headers } = await ask(await served(t), '/debug/');
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self';/);
    assert.doesNotMatch(policy, /https?:|\*|unsafe/);
  });

  it('serves no other file', async (t) => {
    const port = await served(t);
    for (const name of ['page.html', 'graphiql/page.js', '../../gateway.js', '..%2frouter.js', 'nope']) {
      assert.equal((await ask(port, `/debug/${name}`)).status, 404, name);
    }
  });
});

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  TransactionRefused,
  type CommandConnection,
  type ConnectionListener,
} from '../../../../src/bus/redis/connection.ts';
import { Master } from '../../../../src/bus/redis/master.ts';
import { BUS_TIMING } from '../../../../src/bus/redis/timing.ts';
import { createLog } from '../../../../src/log.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const MASTER = 'role:master\r\nmaster_replid:first\r\n';
const REPLICA = 'role:slave\r\nmaster_replid:first\r\n';

/** A master that is connected, and may be published to. */
async function setUp(t: TestContext) {
  const redis = { is: MASTER, reconnections: 0 };
  let listener: ConnectionListener | undefined;
  const connection: CommandConnection = {
    start: (given) => (listener = given),
    stop: () => undefined,
    reconnect: () => void (redis.reconnections += 1),
    send: async (commands) => commands.map(() => ({ value: redis.is })),
    transact: async () => assert.fail('expected no transaction'),
  };
  const clock = new FakeClock();
  const happened: string[] = [];
  const master = new Master({
    connection,
    metrics: new Metrics(),
    log: createLog('silent'),
    clock,
    timing: BUS_TIMING,
    tryOut: async () => void happened.push('tried out'),
    mayHaveLost: async () => void happened.push('may have lost'),
    foundReplica: () => void happened.push('is a replica'),
  });
  t.after(() => master.stop());
  const connect = async (): Promise<void> => {
    listener?.onReady();
    await setImmediate();
  };
  master.start(() => happened.push('usable'));
  await connect();
  const lose = (): void => listener?.onLost();
  return { master, redis, happened, connect, lose };
}

test('nothing is published before the first look at a server', async (t) => {
  const { master, happened, lose, connect } = await setUp(t);
  master.expectUsable();
  assert.deepEqual(happened, ['tried out', 'may have lost', 'usable']);
  lose();
  assert.throws(() => master.expectUsable(), { message: 'the connection to Redis is lost' });
  await connect();
  master.expectUsable();
  assert.deepEqual(happened.slice(3), ['tried out', 'usable'], 'it is the same server');
});

test('a server that refuses to be written to is left, and tried again until it is a master', async (t) => {
  const { master, redis, happened } = await setUp(t);
  const refused = new TransactionRefused("READONLY You can't write against a read only replica.");
  await assert.rejects(master.run(Promise.reject(refused)), refused);
  assert.throws(() => master.expectUsable(), { message: 'Redis is not a master' });
  assert.equal(happened.at(-1), 'is a replica');
  await setImmediate();
  assert.equal(redis.reconnections, 1);
});

test('a server that refuses something else is kept', async (t) => {
  const { master, redis } = await setUp(t);
  const refused = new TransactionRefused('OOM command not allowed when used memory > maxmemory.');
  await assert.rejects(master.run(Promise.reject(refused)), refused);
  await assert.rejects(master.run(Promise.reject(new Error('READONLY'))), { message: 'READONLY' });
  master.expectUsable();
  await setImmediate();
  assert.equal(redis.reconnections, 0);
});

test('a server that has become a replica is left as soon as it says so', async (t) => {
  const { master, redis, happened } = await setUp(t);
  assert.equal(await master.inspected({ value: MASTER }), 'first');
  await assert.rejects(master.inspected({ value: REPLICA }), { message: 'Redis is not a master' });
  await setImmediate();
  assert.deepEqual([redis.reconnections, master.isConnected], [1, false]);
  assert.deepEqual(happened.slice(3), ['is a replica']);
});

test('another server may lack what was published last', async (t) => {
  const { master, happened } = await setUp(t);
  await master.inspected({ value: 'role:master\r\nmaster_replid:second\r\n' });
  assert.deepEqual(happened.slice(3), ['may have lost']);
});

test('where Redis does not permit to be asked which server it is, it is published to, and not asked again', async (t) => {
  const { master } = await setUp(t);
  const error = new Error("NOPERM this user has no permissions to run the 'info' command");
  assert.equal(master.inspection.length, 1);
  assert.equal(await master.inspected({ error }), undefined);
  assert.equal(master.inspection.length, 0);
  master.expectUsable();
});

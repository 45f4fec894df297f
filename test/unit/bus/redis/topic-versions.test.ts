import assert from 'node:assert/strict';
import test from 'node:test';
import {
  TransactionRefused,
  type Command,
  type CommandConnection,
  type Reply,
} from '../../../../src/bus/redis/connection.ts';
import { BusNames } from '../../../../src/bus/redis/names.ts';
import { TopicVersions } from '../../../../src/bus/redis/topic-versions.ts';
import { createLog } from '../../../../src/log.ts';

const OOM = 'OOM command not allowed';
const NOPERM = 'NOPERM no permission';
const BUSY = 'BUSY a script';

/** Versions over a Redis that refuses transactions for this reason, if there is one. */
function setUp() {
  const redis = {
    refusal: undefined as string | undefined,
    reply: { value: 'OK' } as Reply,
    /** In place of `reply`. */
    replyTo: (_name: string | undefined): Reply | undefined => undefined,
    sent: [] as Command[],
    transacted: [] as Command[],
    now: 0,
  };
  const connection = {
    transact: async (commands: readonly Command[]) => {
      if (redis.refusal !== undefined) throw new TransactionRefused(redis.refusal);
      redis.transacted.push(...commands);
      return commands.map(() => ({ value: 'OK' }));
    },
    send: async (commands: readonly Command[]) => {
      redis.sent.push(...commands);
      return commands.map(([name]) => redis.replyTo(name) ?? redis.reply);
    },
  } as unknown as CommandConnection;
  const others = { pod: 'p', log: createLog('silent'), now: () => redis.now, isLost: async () => false };
  return { redis, versions: new TopicVersions({ connection, names: new BusNames(''), ...others }) };
}

test('where versions are not permitted, a topic has none by the time it is published to, as the pod may end before they are', async () => {
  const { redis, versions } = setUp();
  redis.refusal = NOPERM;
  await versions.tryOut();
  assert.equal(versions.arePermitted, false);
  let before: readonly Command[] = [];
  await versions.run('bids', [], async () => {
    before = [...redis.sent];
    return [];
  });
  assert.deepEqual(before, [['DEL', new BusNames('').versionKey('bids')]]);
});

for (const reason of [OOM, NOPERM, BUSY]) {
  test(`what was published without a new version has one before a script runs, or none does: ${reason}`, async () => {
    const { redis, versions } = setUp();
    redis.refusal = OOM;
    await versions.run('bids', [], async () => []);
    redis.refusal = reason;
    const script = versions.runScript('bids', () => ['EVAL'], assert.fail);
    if (reason === BUSY) await assert.rejects(script, TransactionRefused);
    else assert.equal(await script, undefined);
    assert.deepEqual(redis.sent, [['DEL', '@version:bids']]);
  });

  test(`without a version to read the commands are run by themselves, unless Redis may do it soon: ${reason}`, async () => {
    const { redis, versions } = setUp();
    redis.refusal = reason;
    const reading = versions.readWith([['PING']], ['bids']);
    if (reason === BUSY) return assert.rejects(reading, TransactionRefused);
    assert.deepEqual(await reading, { replies: [{ value: 'OK' }], versions: new Map([['bids', null]]) });
    assert.deepEqual(redis.sent, [['PING']]);
  });
}

test('where the former version is on a node that the slot goes to, nothing is published beside it', async () => {
  const { redis, versions } = setUp();
  redis.refusal = OOM;
  redis.reply = { error: new Error('ASK 1 other:6379') };
  await assert.rejects(versions.run('bids', [], assert.fail), TransactionRefused);
  redis.reply = { error: new Error('MISCONF the disk is full') };
  assert.deepEqual(await versions.run('bids', [], async () => []), []);
});

test('nothing is sent to give no topic a version, nor where Redis does not permit versions', async () => {
  const { redis, versions } = setUp();
  await versions.initialise([]);
  assert.deepEqual(redis.sent, []);
  await versions.initialise(['bids']);
  assert.equal(redis.sent.length, 1);
  redis.refusal = NOPERM;
  await versions.tryOut();
  await versions.initialise(['bids']);
  assert.equal(redis.sent.length, 1);
});

test('of a topic with history, what was published without it counts as lost where the version is another', async () => {
  for (const isKept of [true, false]) {
    const { redis, versions } = setUp();
    redis.reply = { value: 'of another pod' };
    if (!isKept) await versions.run('bids', [], async () => []);
    // A script that succeeds later knows nothing of it.
    await versions.runScript(
      'bids',
      () => ['EVAL'],
      () => undefined,
    );
    redis.now = 30;
    await versions.announceLost();
    const announced = redis.transacted.filter(([name]) => name === 'PUBLISH');
    assert.deepEqual(announced, isKept ? [] : [['PUBLISH', '@gaps', '["bids",30]']]);
  }
});

test('what Redis may have lost is told once it is not busy any more, or with the first heartbeat after it is permitted', async () => {
  const { redis, versions } = setUp();
  await versions.run('bids', [], async () => []);
  redis.refusal = BUSY;
  const sent = () => redis.sent.filter(([name]) => name === 'PUBLISH').length;
  const replies = { GET: { value: 'of another pod' }, PUBLISH: { error: new Error(BUSY) } };
  redis.replyTo = (name) => replies[name as keyof typeof replies];
  await assert.rejects(versions.announceLost(), { message: BUSY });
  replies.PUBLISH.error = new Error(NOPERM);
  await versions.announceLost();
  assert.equal(sent(), 2);
  redis.refusal = NOPERM;
  await versions.announceLost();
  assert.equal(sent(), 2, 'heartbeats try it again');
  await versions.readWith([], ['bids']);
  assert.equal(sent(), 2, 'Redis permits no heartbeat either');
  redis.refusal = undefined;
  await versions.readWith([], ['bids']);
  assert.equal(sent(), 3, 'it is permitted, but for this channel');
  replies.PUBLISH.error = new Error(BUSY);
  await assert.rejects(versions.readWith([], ['bids']), { message: BUSY });
  redis.now = 20;
  redis.replyTo = () => undefined;
  await versions.readWith([], ['bids']);
  assert.deepEqual(redis.sent.at(-1), ['PUBLISH', '@gaps', '["bids",20]']);
  await versions.readWith([], ['bids']);
  assert.equal(sent(), 5, 'nothing is left to tell');
});

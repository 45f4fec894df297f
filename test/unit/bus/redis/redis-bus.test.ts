import assert from 'node:assert/strict';
import { once } from 'node:events';
import test, { type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { RedisBus } from '../../../../src/bus/redis/redis-bus.ts';
import { topicsIn } from '../../../../src/bus/redis/topic-list.ts';
import type { ConsumedTopic } from '../../../../src/events/consumption.ts';
import { PublishError } from '../../../../src/events/publisher.ts';
import { createLog } from '../../../../src/log.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { deferred } from '../../../helpers/deferred.ts';
import { stillClock } from '../../support/still-clock.ts';
import { FakeRedis } from './fake-redis.ts';

const BEAT_MS = 1_000;

/** A bus that is started; its Redis is yet to be connected. Time stands still until `wake` and `beat`. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const redis = new FakeRedis();
  const metrics = new Metrics();
  const log = createLog('silent');
  const { clock, wakeAll } = stillClock();
  let now = 0;
  const bus = new RedisBus({
    ...redis,
    commands: redis.commands,
    listening: redis.listening,
    prefix: '',
    lingerMs: 0,
    countsSubscribers: true,
    metrics,
    log,
    clock: { ...clock, now: () => now },
    timing: { beatMs: BEAT_MS, silenceMs: 4_000, deafMs: 15_000, settleMs: 1_500 },
  });
  const gaps: string[] = [];
  bus.onGap((topic) => gaps.push(topic));
  const deaf: boolean[] = [];
  bus.onDeaf((isDeaf) => deaf.push(isDeaf));
  t.after(() => bus.stop());
  return {
    redis,
    bus,
    log,
    gaps,
    deaf,
    connected: async () => {
      const { values } = await metrics.busConnected.get();
      return Object.fromEntries(values.map(({ labels, value }) => [labels.connection, value]));
    },
    /** All sleeps end. */
    wake: async () => {
      wakeAll();
      await setImmediate();
    },
    beat: async (times = 1) => {
      for (let beats = 0; beats < times; beats += 1) {
        t.mock.timers.tick(BEAT_MS);
        await setImmediate();
      }
    },
    pass: (ms: number) => void (now += ms),
    join: (topic: string) => bus.subscribe(topic, topic, () => undefined).ready,
    /** Both connections are made. */
    connect: async () => {
      redis.commands.connect();
      redis.listening.connect();
      await setImmediate();
    },
    listenAgain: async () => {
      redis.listening.connect();
      await setImmediate();
    },
    /** The listening connection is lost, and made again. */
    relisten: () => {
      redis.listening.lose();
      redis.listening.connect();
    },
  };
}

test('the gauge of a connection is 1 while it can be used', async (t) => {
  const { redis, bus, connected, wake } = setUp(t);
  assert.deepEqual(await connected(), { publishing: 0, listening: 0 });
  bus.start();
  redis.listening.connect();
  assert.deepEqual(await connected(), { publishing: 0, listening: 1 });
  redis.commands.connect();
  await setImmediate();
  assert.deepEqual(await connected(), { publishing: 1, listening: 1 });
  redis.commands.lose();
  redis.listening.lose();
  assert.deepEqual(await connected(), { publishing: 0, listening: 0 });
  redis.commands.connect();
  await setImmediate();
  assert.deepEqual(await connected(), { publishing: 0, listening: 0 }, 'while others are given time');
  await wake();
  assert.deepEqual(await connected(), { publishing: 1, listening: 0 });
});

async function started(t: TestContext) {
  const parts = setUp(t);
  parts.bus.start();
  await parts.connect();
  return parts;
}

/** The pod listens to `bids`, of whose version the heartbeat has told. */
async function listening(t: TestContext) {
  const parts = await started(t);
  await parts.join('bids');
  await parts.beat(2);
  return parts;
}

test('what is no list of topics tells of no gap, and does no harm', async (t) => {
  const { redis, gaps, join } = await started(t);
  await join('bids');
  for (const payload of ['', 'no JSON', 'null', '7', '"bids"', '{"bids":1}', '[null,{},["bids"]]']) {
    assert.equal(redis.listening.deliver('@gaps', payload), 1);
    assert.deepEqual(gaps, [], payload);
  }
  redis.listening.deliver('@gaps', '["asks",null,"bids"]');
  assert.deepEqual(gaps, ['bids']);
});

test('a loss that a publisher tells of is told once, where the topic was told since it was published', async (t) => {
  const { redis, gaps, join } = await started(t);
  await join('bids');
  redis.listening.deliver('@gaps', '["bids"]');
  assert.deepEqual(gaps, ['bids']);
  redis.listening.deliver('@gaps', '["asks",0,"bids",60000]');
  assert.deepEqual(gaps, ['bids'], 'it was published before');
  redis.listening.deliver('@gaps', '["bids","asks",60000]');
  assert.deepEqual(gaps, ['bids', 'bids'], 'it may have been published since');
});

test('a channel is joined only once the connection counts, or a loss before that would not be noticed', async (t) => {
  const { redis, bus, join } = setUp(t);
  bus.start();
  let isJoined = false;
  const joining = join('bids').then(() => (isJoined = true));
  await setImmediate();
  assert.equal(isJoined, false, 'acknowledged, on a connection that may be closed before it counts');
  redis.listening.connect();
  await joining;
});

/** Redis refuses the pod the channel of its heartbeat. The pod listens to `bids`. */
async function startedWithoutOwnChannel(t: TestContext) {
  const parts = setUp(t);
  parts.redis.listening.refuses = (channel) => channel.startsWith('@pod');
  parts.bus.start();
  parts.redis.commands.connect();
  parts.redis.listening.connect();
  await parts.join('bids');
  await setImmediate();
  return parts;
}

test('where Redis refuses a pod its own channel each lost connection is a gap, until it does not', async (t) => {
  const { redis, gaps, relisten, wake, beat } = await startedWithoutOwnChannel(t);
  redis.listening.lose();
  assert.deepEqual(gaps, []);
  redis.listening.connect();
  assert.deepEqual(gaps, ['bids']);
  relisten();
  assert.deepEqual(gaps, ['bids', 'bids']);

  redis.listening.refuses = () => false;
  await wake();
  await beat(2);
  relisten();
  await beat();
  assert.deepEqual(gaps, ['bids', 'bids'], 'nothing was published, as the heartbeat knows again');
});

test('where Redis refuses the channel on which publishers tell of losses, each topic may have one until the pod joins it', async (t) => {
  const { redis, bus, gaps, join, wake } = setUp(t);
  redis.listening.refuses = (channel) => channel === '@gaps';
  bus.start();
  redis.commands.connect();
  redis.listening.connect();
  await join('bids');
  assert.equal(redis.listening.deliver('@gaps', '["bids"]'), 0);
  await wake();
  assert.deepEqual(gaps, []);
  redis.listening.refuses = () => false;
  await wake();
  assert.equal(redis.listening.deliver('@gaps', '[]'), 1);
  assert.deepEqual(gaps, ['bids']);
});

test('a connection that becomes half open while Redis refuses a pod its own channel is noticed', async (t) => {
  const { redis, gaps, wake, beat, listenAgain } = await startedWithoutOwnChannel(t);
  redis.listening.refuses = () => false;
  redis.listening.isSilent = true;
  await wake();
  assert.equal(redis.listening.reconnects, 0, 'the next attempt has just been sent');
  await wake();
  assert.equal(redis.listening.reconnects, 1);
  await listenAgain();
  assert.deepEqual(gaps, ['bids']);
  await beat();
  await wake();
  assert.equal(redis.listening.reconnects, 1, 'the heartbeat has begun');
});

test('a connection over which nothing comes back for some heartbeats is made anew, though not for the time in which the process stood still', async (t) => {
  const { redis, beat, pass } = await listening(t);
  // It delivers nothing, and the pod does not know of a pause.
  redis.listening.isPaused = true;
  await beat();
  pass(60_000);
  await beat();
  assert.equal(redis.listening.reconnects, 0);
  await beat(3);
  assert.equal(redis.listening.reconnects, 1);
});

/** A pod whose listening connection is lost and not made again, after so many heartbeats, each with a reply of Redis. */
async function lostFor(t: TestContext, beats: number, others = 1) {
  const parts = await listening(t);
  parts.redis.otherListeners = others;
  parts.redis.listening.lose();
  await parts.beat(beats);
  return parts;
}

const DEAF_BEATS = 15;

test('a connection that is being made is not made anew for the silence of the one before', async (t) => {
  const { redis, beat } = await started(t);
  redis.listening.isPaused = true;
  await beat();
  redis.listening.lose();
  await beat(6);
  assert.equal(redis.listening.reconnects, 0);
});

test('of all its connections a pod hears itself over the present one alone, also where SUBSCRIBE was not replied to before', async (t) => {
  const { redis, beat, relisten } = await started(t);
  relisten();
  await setImmediate();
  const join = redis.listening.join.bind(redis.listening);
  const replied = new AbortController();
  const { mock } = t.mock.method(redis.listening, 'join', async (...channel: Parameters<typeof join>) => {
    await join(...channel);
    await once(replied.signal, 'abort');
  });
  relisten();
  mock.restore();
  relisten();
  await setImmediate();
  replied.abort();
  await beat();
  const channels = redis.listening.joined.filter((channel) => /^@pod:.*:\d+$/.test(channel));
  assert.equal(channels.length, 1);
  const heard: string[] = [];
  t.mock.method(redis.listening, 'deliver', (channel: string) => heard.push(channel));
  await beat();
  assert.deepEqual(heard, channels);
});

test('a pod that reads what has piled up, behind which the reply to SUBSCRIBE is, is not deaf', async (t) => {
  const { redis, beat, deaf } = await started(t);
  await beat();
  redis.otherListeners = 1;
  redis.listening.lose();
  redis.listening.isPaused = true;
  t.mock.method(redis.listening, 'join', () => new Promise(() => undefined));
  redis.listening.connect();
  for (let beats = 0; beats < 20; beats += 1) {
    redis.listening.bytesRead += 1_000;
    await beat();
  }
  assert.deepEqual(deaf, []);
});

test('the first heartbeat of a connection waits for no channel, since what is published before it counts as missed', async (t) => {
  const { redis, relisten } = await started(t);
  t.mock.method(redis.listening, 'join', () => new Promise(() => undefined));
  const sent: string[] = [];
  t.mock.method(redis.listening, 'deliver', (channel: string) => sent.push(channel));
  relisten();
  await setImmediate();
  assert.equal(sent.filter((channel) => channel.startsWith('@pod:')).length, 1);
});

test('a pod that listens to a replica listens anew, though the master still counts a connection of the pod that is lost', async (t) => {
  const { redis, beat, listenAgain } = await started(t);
  await beat();
  redis.listening.vanish();
  redis.listening.isAtReplica = true;
  await listenAgain();
  await beat();
  redis.listening.isAtReplica = false;
  assert.equal(redis.listening.reconnects, 1);
});

test('a pod that listens to another server does not wait for its first heartbeat, which a lost connection was sent, as long as others’ messages come', async (t) => {
  const { redis, beat, relisten } = await started(t);
  await beat();
  redis.listening.vanish();
  redis.listening.isDeaf = true;
  // The connection's own channel is joined once the first heartbeat has been sent.
  relisten();
  for (let beats = 0; beats < 2; beats += 1) {
    redis.listening.bytesRead += 1_000;
    await beat();
  }
  assert.equal(redis.listening.reconnects, 1);
});

test('a pod that hears nothing, while Redis says that others listen, is deaf, until it hears itself', async (t) => {
  const { deaf, beat, listenAgain } = await lostFor(t, DEAF_BEATS);
  assert.deepEqual(deaf, []);
  await beat();
  assert.deepEqual(deaf, [true]);
  await listenAgain();
  await beat();
  assert.deepEqual(deaf, [true, false]);
});

test('a pod is deaf too that listens to another server than it publishes to', async (t) => {
  const { redis, deaf, beat, listenAgain } = await listening(t);
  redis.otherListeners = 1;
  redis.listening.isDeaf = true;
  for (let count = 0; count <= DEAF_BEATS; count += 1) {
    await beat();
    await listenAgain();
  }
  assert.deepEqual(deaf, [true]);
});

test('a pod without subscribers hears itself, too', async (t) => {
  const { redis, deaf, beat, listenAgain } = await started(t);
  redis.otherListeners = 1;
  await beat(2 * DEAF_BEATS);
  redis.listening.lose();
  await beat(DEAF_BEATS + 1);
  await listenAgain();
  await beat();
  assert.deepEqual(deaf, [true, false]);
});

test('a pod is not deaf where no other listens, or where Redis does not say so', async (t) => {
  const { redis, deaf, beat } = await lostFor(t, 30, 0);
  redis.otherListeners = 1;
  redis.refusal = ([name]) => (name === 'PUBSUB' ? 'NOPERM no permission' : undefined);
  await beat(30);
  redis.refusal = ([name]) => (name === 'PUBLISH' ? 'CLUSTERDOWN The cluster is down' : undefined);
  await beat(30);
  assert.deepEqual(deaf, []);
});

test('what a pod did not hear before an outage of Redis, or while it read nothing, does not count', async (t) => {
  const { redis, bus, deaf, beat } = await lostFor(t, DEAF_BEATS);
  redis.commands.lose();
  await beat();
  redis.commands.connect();
  await setImmediate();
  await beat(DEAF_BEATS - 1);
  bus.pause();
  await beat();
  bus.resume();
  await beat(DEAF_BEATS - 1);
  assert.deepEqual(deaf, []);
  await beat();
  assert.deepEqual(deaf, [true]);
});

test('a deaf pod publishes what it has in hand, since others hear it', async (t) => {
  const { redis, bus, beat } = await lostFor(t, DEAF_BEATS);
  const event = { channel: 'bids', payload: 'one' };
  await assert.rejects(bus.publish('bids', [event]), PublishError);
  await assert.rejects(bus.subscribed('bids', ['bids']));
  await beat();
  await bus.subscribed('bids', ['bids']);
  const run = t.mock.method(redis, 'run');
  await bus.publish('bids', [event]);
  assert.ok(run.mock.calls.some(({ arguments: [command] }) => command.includes('one')));
});

test('a pod that was deaf tells of what was published meanwhile', async (t) => {
  const { bus, gaps, beat, listenAgain } = await lostFor(t, DEAF_BEATS + 1);
  await bus.publish('bids', [{ channel: 'bids', payload: 'one' }]);
  await listenAgain();
  await beat();
  assert.deepEqual(gaps, ['bids']);
});

test('while the pod reads nothing, a missing reply to SUBSCRIBE shows nothing', async (t) => {
  const { redis, bus, wake } = await startedWithoutOwnChannel(t);
  redis.listening.refuses = () => false;
  redis.listening.isSilent = true;
  await wake();
  bus.pause();
  await wake();
  bus.resume();
  await wake();
  assert.equal(redis.listening.reconnects, 0, 'the pod was paused for a part of that time');
  await wake();
  assert.equal(redis.listening.reconnects, 1);
});

test('a heartbeat goes on where Redis permits INFO no longer', async (t) => {
  const { redis, gaps, join, relisten, beat } = await started(t);
  await join('bids');
  await beat();
  redis.refusal = ([name]) =>
    name === 'INFO' ? 'NOPERM this user has no permissions to run the INFO command' : undefined;
  await beat();
  assert.deepEqual(gaps, ['bids'], 'whether the server was a replica meanwhile is not known');
  await beat(2);
  relisten();
  await beat();
  assert.deepEqual(gaps, ['bids'], 'nothing was published, as the heartbeat has read');
});

test('a server that can’t tell its role when it is connected is asked again', async (t) => {
  const { redis, bus, log, connected, wake, connect } = setUp(t);
  const warn = t.mock.method(log, 'warn');
  redis.role = 'slave';
  redis.refusal = ([name]) => (name === 'INFO' ? 'BUSY Redis is busy running a script' : undefined);
  bus.start();
  await connect();
  assert.deepEqual(await connected(), { publishing: 0, listening: 1 }, 'it may be a replica, and is one');
  await wake();
  assert.equal(warn.mock.callCount(), 1, 'once for each reason');
  redis.role = 'master';
  redis.refusal = () => undefined;
  await wake();
  assert.deepEqual(await connected(), { publishing: 1, listening: 1 });
});

test('a version that is renewed shortly after it was compared is a gap: it had not told of what was published', async (t) => {
  const { redis, gaps, relisten, beat } = await listening(t);
  redis.listening.deliver('@renewals', '["bids"]');
  assert.deepEqual(gaps, [], 'nothing has been compared');
  relisten();
  await beat();
  assert.deepEqual(gaps, []);
  redis.listening.deliver('@renewals', '["asks","bids"]');
  assert.deepEqual(gaps, ['bids']);
});

test('after a stop there is no heartbeat, though the own channels were refused until then', async (t) => {
  const { redis, bus, wake } = setUp(t);
  redis.listening.refuses = () => true;
  bus.start();
  await setImmediate();
  redis.listening.refuses = () => false;
  await bus.stop();
  await wake();
  assert.equal(redis.listening.deliver('@gaps', '[]'), 0);
  const beats = t.mock.method(redis, 'run');
  t.mock.timers.tick(10 * BEAT_MS);
  assert.equal(beats.mock.callCount(), 0);
});

test('a gap is told once, though the new connection is to a server on which nothing is published', async (t) => {
  const { redis, gaps, listenAgain } = await listening(t);
  redis.listening.lose();
  redis.values.set('@version:bids', 'of another pod');
  redis.listening.isDeaf = true;
  await listenAgain();
  assert.equal(redis.listening.reconnects, 1);
  assert.deepEqual(gaps, [], 'what this connection does not hear is yet to be counted');
  redis.listening.isDeaf = false;
  await listenAgain();
  assert.deepEqual(gaps, ['bids']);
});

test('a server that was a replica between two heartbeats may have missed what others published', async (t) => {
  const { redis, gaps, beat } = await listening(t);
  redis.replicationId = 'b';
  await beat(2);
  assert.deepEqual(gaps, [], 'nothing was published meanwhile');
  redis.values.set('@version:bids', 'of another pod, on another master');
  redis.replicationId = 'c';
  await beat(2);
  assert.deepEqual(gaps, ['bids']);
});

test('a publisher tells what a server that was a replica between two heartbeats lacks', async (t) => {
  const { redis, bus, join, beat } = await started(t);
  await join('bids');
  await bus.publish('bids', [{ channel: 'bids', payload: 'one' }]);
  const run = t.mock.method(redis, 'run');
  const announced = () =>
    run.mock.calls.flatMap(({ arguments: [[, channel, payload = '']] }) =>
      channel === '@gaps' ? topicsIn(payload) : [],
    );
  await beat();
  assert.deepEqual(announced(), []);
  redis.replicationId = 'b';
  redis.values.set('@version:bids', 'of another pod, on another master');
  await beat();
  assert.deepEqual(announced(), ['bids']);
});

test('publishing does not begin if the server has become a replica while others were given time', async (t) => {
  const { redis, bus, beat, wake } = await started(t);
  redis.commands.lose();
  redis.commands.connect();
  await setImmediate();
  redis.role = 'slave';
  await beat();
  redis.commands.reconnect = () => undefined; // Slow to close.
  await wake();
  await assert.rejects(bus.publish('bids', [{ channel: 'bids', payload: 'no' }]), {
    cause: new Error('Redis is not a master'),
  });
});

test('where Redis does not permit to count subscribers all channels count as wanted, and other refusals are told', async (t) => {
  const { redis, bus } = await started(t);
  redis.refusal = ([name]) => (name === 'SET' || name === 'PUBSUB' ? 'NOPERM no permission' : undefined);
  const permitted = redis.refusal;
  redis.refusal = (command) => (command[0] === 'PUBSUB' ? 'LOADING the dataset' : permitted(command));
  await assert.rejects(bus.subscribed('bids', ['a']), new Error('LOADING the dataset'));
  redis.refusal = permitted;
  assert.deepEqual(await bus.subscribed('bids', ['a', 'b']), new Set(['a', 'b']));
  const run = t.mock.method(redis.commands, 'send');
  assert.deepEqual(await bus.subscribed('bids', ['a']), new Set(['a']));
  assert.equal(run.mock.callCount(), 0, 'Redis is not asked again');
});

test('without a version, a node of a cluster that the slot has left does not count as one without subscribers', async (t) => {
  const { redis, bus } = await started(t);
  redis.refusal = ([name]) => (name === 'SET' ? 'NOPERM no permission' : undefined);
  assert.deepEqual(await bus.subscribed('bids', ['a']), new Set());
  const permitted = redis.refusal;
  redis.refusal = (command) => (command[0] === 'PUBLISH' ? 'MOVED 1 other:6379' : permitted(command));
  await assert.rejects(bus.subscribed('bids', ['a']), new Error('MOVED 1 other:6379'));
});

test('announcements have been heard once those are read that are kept, also where Redis refuses to have them read at first', async (t) => {
  const { redis, bus, wake, connect } = setUp(t);
  const heard: string[] = [];
  bus.onAnnouncement((text) => heard.push(text));
  redis.kept = ['one'];
  redis.refusal = ([name]) => (name === 'ZRANGE' ? 'BUSY a script is running' : undefined);
  bus.start();
  assert.equal(bus.announcementsAreHeard, false);
  await connect();
  await wake();
  assert.equal(bus.notReady(), undefined);
  assert.deepEqual([heard, bus.announcementsAreHeard], [[], false]);
  redis.refusal = () => undefined;
  await wake();
  assert.deepEqual([heard, bus.announcementsAreHeard], [['one'], true]);
  redis.listening.lose();
  assert.equal(bus.announcementsAreHeard, true, 'an outage does not take the pod out of service');
});

test('announcements that a pod has heard are made again where Redis has lost them', async (t) => {
  const { redis, bus, wake, connect } = setUp(t);
  const known: string[] = [];
  bus.onAnnouncement((text) => known.push(text), { texts: () => [...new Set(known)], keepMs: 60_000 });
  redis.kept = ['one', 'two'];
  bus.start();
  await connect();
  assert.deepEqual(known, ['one', 'two'], 'what is kept is not made again');
  redis.kept = ['two'];
  redis.listening.lose();
  redis.refusal = ([name]) => (name === 'ZADD' ? 'OOM no memory' : undefined);
  await connect();
  assert.deepEqual(redis.kept, ['two']);
  redis.refusal = () => undefined;
  await wake();
  assert.deepEqual(redis.kept, ['two', 'one']);
  assert.deepEqual(known.slice(-1), ['one'], 'pods that have read before hear it');
});

test('where Redis refuses the channel of announcements, the pod says so, and reads those that are kept', async (t) => {
  const { redis, bus, log, wake, connect } = setUp(t);
  const errors = t.mock.method(log, 'error');
  const warnings = t.mock.method(log, 'warn');
  const heard: string[] = [];
  bus.onAnnouncement((text) => heard.push(text));
  redis.listening.refuses = (channel) => channel === '@revocations';
  redis.kept = ['one'];
  bus.start();
  await connect();
  await wake();
  assert.deepEqual(new Set(heard), new Set(['one']));
  redis.kept = ['one', 'two'];
  await wake();
  assert.deepEqual(new Set(heard), new Set(['one', 'two']), 'it reads them again at the next attempt');
  const said = errors.mock.calls.map(({ arguments: [fields, message] }) => [fields, message]);
  const fields = { channel: '@revocations', reason: 'NOPERM this user may not' };
  const message =
    'Redis refuses the channel of revocations; until it does not, they are not heard when they are made, but read every few seconds';
  assert.deepEqual(said, [[fields, message]]);
  assert.equal(warnings.mock.callCount(), 0, 'no events are missed');
  redis.listening.refuses = () => false;
  await wake();
  redis.listening.deliver('@revocations', 'three');
  assert.ok(heard.includes('three'));
});

const PART_BYTES = 4 * 1024 * 1024;

/** Three events of more than half a part each. */
const LARGE = [...'abc'].map((letter) => ({ channel: 'bids', payload: letter.repeat(0.6 * PART_BYTES) }));

/** All but the first of them count as not published. */
const areButFirst = (cause: string) => (thrown: unknown) => {
  assert.ok(thrown instanceof PublishError);
  const letters = thrown.failed.map(({ payload }) => payload.charAt(0));
  assert.deepEqual([letters, String(thrown.cause)], [['b', 'c'], cause]);
  return true;
};

test('where Redis refuses a part of a batch, that and what is behind it counts as failed, and nothing behind it is published', async (t) => {
  const { redis, bus } = await started(t);
  const heard: string[] = [];
  await bus.subscribe('bids', 'bids', (payload) => heard.push(payload.toString().charAt(0))).ready;
  redis.refusal = ([name, , payload = '']) =>
    name === 'PUBLISH' && payload.startsWith('b') ? 'BUSY Redis is busy' : undefined;
  await assert.rejects(
    bus.publish('bids', LARGE),
    areButFirst('TransactionRefused: Redis has refused a transaction: BUSY Redis is busy'),
  );
  assert.deepEqual(heard, ['a']);
});

test('a pod that listens no more publishes no further part', async (t) => {
  const { redis, bus } = await started(t);
  await bus.subscribe('bids', 'bids', () => redis.listening.lose()).ready;
  await assert.rejects(
    bus.publish('bids', LARGE),
    areButFirst('Error: this pod is not subscribed to Redis at present'),
  );
});

test('a pod answers those that ask what it has heard', async (t) => {
  const { redis } = await started(t);
  const answers: string[] = [];
  await redis.listening.join('@pod:other', (payload) => void answers.push(payload.toString()));
  assert.equal(redis.listening.deliver('@questions', 'other 7'), 1);
  await setImmediate();
  assert.deepEqual(answers, ['=7']);
});

test('a pod that does not read what it publishes publishes no more than a bound', async (t) => {
  const { redis, bus, wake } = await started(t);
  await bus.subscribe('bids', 'bids', () => undefined).ready;
  redis.listening.isPaused = true;
  let isPublished = false;
  const publishing = bus.publish('bids', LARGE).then(() => (isPublished = true));
  await setImmediate();
  assert.equal(isPublished, false);
  await wake();
  await publishing;
});

const HELD = { partition: 0, log: 'id/0', start: 0, leaderEpoch: 3, lastEpoch: 3, lastFrom: undefined };
const consumedTo = (next: number, assignedAt = 7): ConsumedTopic[] => [
  { topic: 'bids', count: 1, partitions: [{ ...HELD, next, until: next, assignedAt }] },
];

/** A bus whose pod consumes what it listens to, and can read it again. */
async function consuming(t: TestContext) {
  const { bus, redis, gaps, join, beat, pass, wake, relisten, connect } = setUp(t);
  const kafka = { topics: consumedTo(2), read: [] as (readonly [from: number, until: number])[] };
  bus.readMissedFrom({
    topics: () => kafka.topics,
    topicsOf: (stream) => [stream],
    isOf: (stream, topic) => stream === topic,
    read: async (_topic, ranges) =>
      void kafka.read.push(...ranges.map(({ from, until }) => [from, until] as const)),
  });
  bus.start();
  await connect();
  await join('bids');
  const goOn = async (): Promise<void> => {
    for (let beats = 0; beats < 10; beats += 1) {
      pass(BEAT_MS);
      await wake();
      await beat();
    }
  };
  await goOn();
  /** The listening connection is lost, while this is published. */
  const blink = async (topics: ConsumedTopic[], version?: string): Promise<void> => {
    kafka.topics = topics;
    if (version !== undefined) redis.values.set('@version:bids', version);
    relisten();
    // What can be read is read before time passes.
    await setImmediate();
    await goOn();
  };
  return { bus, redis, kafka, gaps, blink, goOn, beat, wake };
}

for (const [what, after] of [
  ['Kafka confirms no partition', []],
  ['a partition has moved', consumedTo(2, 9)],
] as const) {
  test(`what can not be read, since ${what}, is told only where something was published`, async (t) => {
    const { kafka, gaps, blink, goOn } = await consuming(t);
    await blink([...after]);
    assert.deepEqual(gaps, []);
    kafka.topics = consumedTo(2);
    await goOn();
    await blink([...after], 'of another pod');
    assert.deepEqual([gaps, kafka.read], [['bids'], []]);
  });
}

test('what has been read again is not told, neither then nor after the next lost connection', async (t) => {
  const { kafka, gaps, blink } = await consuming(t);
  await blink(consumedTo(5), 'of another pod');
  assert.deepEqual(kafka.read, [[2, 5]]);
  await blink([]);
  assert.deepEqual(gaps, []);
});

/** Heartbeats, on the channel of the connection. */
const BEATS = /^@pod:.*:/;

for (const [what, late] of [
  ['a heartbeat finds', undefined],
  ['an event shows, while a heartbeat of before is yet to be heard,', 'message'],
  ['an event shows, while a heartbeat of before is yet to be replied to,', 'reply'],
] as const) {
  test(`what came since ${what} that the server is a replica may be behind what was missed: it is told, and not read again`, async (t) => {
    const { bus, redis, kafka, gaps, blink, beat, wake, goOn } = await consuming(t);
    redis.commands.reconnect = () => redis.commands.connect();
    if (late !== undefined) {
      const run = t.mock.method(redis, 'run');
      const transact = redis.commands.transact.bind(redis.commands);
      const replied = deferred<void>();
      redis.listening.isPaused = late === 'message';
      if (late === 'reply') {
        redis.commands.transact = async (commands) => {
          const replies = await transact(commands);
          await replied.promise;
          return replies;
        };
      }
      await beat();
      redis.commands.transact = transact;
      redis.listening.isPaused = false;
      redis.refusal = () => "READONLY You can't write against a read only replica.";
      await assert.rejects(bus.publish('bids', [{ channel: 'bids', payload: 'one' }]));
      replied.resolve();
      await setImmediate();
      const [, channel = '', id = ''] =
        run.mock.calls.map(({ arguments: [command] }) => command).findLast(([, to = '']) => BEATS.test(to)) ??
        [];
      assert.equal(redis.listening.deliver(channel, id), 1);
    } else {
      redis.role = 'slave';
      await beat();
      redis.role = 'master';
    }
    redis.refusal = ([, channel = '']) =>
      BEATS.test(channel) ? 'BUSY Redis is busy running a script' : undefined;
    await wake();
    await wake();
    await blink(consumedTo(5), 'of another pod');
    redis.refusal = () => undefined;
    await goOn();
    assert.deepEqual([gaps, kafka.read], [['bids'], []]);
  });
}

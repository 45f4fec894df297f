import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import type { TestContext } from 'node:test';
import { IoredisListening } from '../../src/bus/redis/ioredis.ts';
import { Sentinels } from '../../src/bus/redis/sentinels.ts';
import { createLog } from '../../src/log.ts';
import { systemClock } from '../../src/support/clock.ts';
import { eventually } from '../helpers/eventually.ts';
import { redisAdmin, startRedis, type RedisServer } from '../helpers/redis.ts';
import { NAME, startSentinel, startSentinels, type SentinelTrio } from '../helpers/redis-sentinel.ts';
import { testNeeding } from '../helpers/services.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { Watched } from '../helpers/watched-connection.ts';
import { addressOf, createBus, startBus } from './redis-buses.ts';
import { inboxOf } from './redis-connection.ts';
import { listenToStream, STREAMED, streamThrough } from './redis-stream.ts';

const test = testNeeding('redis-server');

const onPort = (port: number) => `127.0.0.1:${port}`;
const accessOf = (sentinels: readonly string[]) => ({ sentinels: sentinels.map(addressOf), master: NAME });

const FAULTS: Record<string, (trio: SentinelTrio, master: RedisServer) => unknown> = {
  'is killed': (_trio, master) => master.stop('SIGKILL'),
  hangs: (_trio, master) => master.signal('SIGSTOP'),
  'becomes a replica': (trio) => trio.failover(),
};

for (const [fault, happen] of Object.entries(FAULTS)) {
  test(`redis with Sentinel: when the master ${fault}, pods go on with the next one, and what they miss is read or told`, async (t) => {
    const trio = await startSentinels(t);
    const start = async () =>
      listenToStream(await startBus(t, accessOf(trio.sentinels), { histories: STREAMED }));
    await streamThrough([await start(), await start()], async () => {
      const former = await trio.master();
      await happen(trio, former);
      await trio.replaced(former);
    });
  });
}

/** A connection that listens to `news` on the master that these Sentinels name. */
async function listenBy(t: TestContext, addresses: readonly string[]) {
  const access = accessOf(addresses);
  const log = createLog('silent');
  const sentinels = new Sentinels(access, log, systemClock);
  const listening = new IoredisListening({ access, sentinels, log });
  const life = Watched.start(t, listening);
  await life.until('ready');
  return { inbox: await inboxOf(listening), untilMoved: () => life.until('lost', 'ready') };
}

function followed(t: TestContext, ports: readonly number[]): Sentinels {
  const sentinels = new Sentinels(accessOf(ports.map(onPort)), createLog('silent'), systemClock);
  const follower = { moveTo: () => undefined };
  sentinels.follow(follower);
  t.after(() => sentinels.unfollow(follower));
  return sentinels;
}

/** Two servers that take themselves for the master, and a Sentinel of each; that of the second one knows of a failover. */
async function startTwoMasters(t: TestContext) {
  const [former, next] = [await startRedis(t), await startRedis(t)];
  const ports = [
    await startSentinel(t, former.port, 1),
    await startSentinel(t, next.port, 1, undefined, 1),
  ] as const;
  return { former, next, ports };
}

test('redis with Sentinel: a connection to a master that hangs is made anew once another one is named, by that alone', async (t) => {
  const trio = await startSentinels(t);
  const { inbox, untilMoved } = await listenBy(t, trio.sentinels);
  const former = await trio.master();
  former.signal('SIGSTOP');
  const admin = await redisAdmin(t, await trio.replaced(former));
  await untilMoved();
  await admin.publish('news', 'by the next one');
  assert.deepEqual(await inbox.until(1), ['by the next one']);
});

const PARTITIONS: Record<string, (relay: TcpRelay) => void> = {
  'are cut off from it for a while': (relay) => relay.cut(),
  'hear nothing of it for a while, over connections that stay open': (relay) => relay.freeze(),
};

for (const [what, part] of Object.entries(PARTITIONS)) {
  test(`redis with Sentinel: a former master that goes on as it was is left, though pods ${what} when it is replaced`, async (t) => {
    const { former, next, ports } = await startTwoMasters(t);
    const relay = await TcpRelay.start(t, ports[0]);
    const { inbox, untilMoved } = await listenBy(t, [onPort(relay.port)]);
    await (await redisAdmin(t, former)).publish('news', 'by the former one');
    assert.deepEqual(await inbox.until(1), ['by the former one']);
    relay.moveTo(ports[1]);
    part(relay);
    await untilMoved();
    await (await redisAdmin(t, next)).publish('news', 'by the next one');
    assert.deepEqual(await inbox.until(2), ['by the former one', 'by the next one']);
  });
}

test('redis with Sentinel: of several masters that are named, the one by the latest failover counts', async (t) => {
  const { next, ports } = await startTwoMasters(t);
  const { inbox } = await listenBy(t, ports.map(onPort));
  const admin = await redisAdmin(t, next);
  // A Sentinel that answers late is heard with the next look, and the connection is moved then.
  await eventually(async () => assert.equal(await admin.publish('news', 'by the next one'), 1));
  assert.deepEqual(await inbox.until(1), ['by the next one']);
});

test('redis with Sentinel: a former master is not gone back to by a Sentinel that lags, but by most of them that know no later one', async (t) => {
  const { former, next, ports } = await startTwoMasters(t);
  const relays = [await TcpRelay.start(t, ports[0]), await TcpRelay.start(t, ports[1])] as const;
  const sentinels = followed(
    t,
    relays.map(({ port }) => port),
  );
  const portNow = async (): Promise<number> => (await sentinels.master()).port;
  await eventually(async () => assert.equal(await portNow(), next.port));
  relays[1].refuse();
  await assert.rejects(
    sentinels.master(),
    /expected the master of mymaster by failover 1 or later, got that by 0 from 1 of 2 Sentinels/,
  );
  relays[1].moveTo(ports[0]);
  relays[1].admit();
  await eventually(async () => assert.equal(await portNow(), former.port));
});

test('redis with Sentinel: one that tells no epoch does not keep the others from being heard', async (t) => {
  const { next, ports } = await startTwoMasters(t);
  // The Sentinel of the former master, behind something that leaves the field out.
  const server = net.createServer((client) => {
    const sentinel = net.connect(ports[0], '127.0.0.1');
    client.pipe(sentinel);
    sentinel.on('data', (chunk) =>
      client.write(chunk.toString('latin1').replace('config-epoch', 'config-other'), 'latin1'),
    );
    for (const [one, other] of [
      [client, sentinel],
      [sentinel, client],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const sentinels = followed(t, [(server.address() as net.AddressInfo).port, ports[1]]);
  await eventually(async () => assert.equal((await sentinels.master()).port, next.port));
});

test('redis with Sentinel: a bus that no Sentinel tells the master waits for it, and says why', async (t) => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const sentinel = onPort(await startSentinel(t, (await startRedis(t)).port, 1));
  const { bus } = createBus({ ...accessOf([sentinel]), master: 'other' }, { log });
  bus.start();
  t.after(() => bus.stop());
  const said =
    /no Sentinel tells the address of other: 127\.0\.0\.1:\d+: ERR No such master with that name","msg":"Redis is out of reach"/;
  await eventually(() => assert.match(lines.join(''), said));
  assert.match(String(bus.notReady()), /not been reached/);
});

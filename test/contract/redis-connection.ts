import assert from 'node:assert/strict';
import test, { type TestContext, type TestOptions } from 'node:test';
import {
  TransactionRefused,
  type CommandConnection,
  type ListeningConnection,
  type Reply,
} from '../../src/bus/redis/connection.ts';
import { INSPECTION, inspectedServer, type Server } from '../../src/bus/redis/server.ts';
import { eventually } from '../helpers/eventually.ts';
import { Inbox } from '../helpers/inbox.ts';
import { range } from '../helpers/numbers.ts';
import { Watched } from '../helpers/watched-connection.ts';

/** Makes connections, not started, to a server of the test's own. */
export interface RedisUnderTest {
  commands(): CommandConnection;
  listening(): ListeningConnection;
}

export type MakeRedis = (t: TestContext) => Promise<RedisUnderTest>;

interface Connected {
  readonly commands: CommandConnection;
  readonly listening: ListeningConnection;
  /** When each was ready and lost. */
  readonly commandsLife: Watched;
  readonly listeningLife: Watched;
  /** A connection of another client, which changes how the server behaves. */
  readonly admin: CommandConnection;
}

/** What the two connections that a Redis bus uses must do, whether their Redis is real or simulated. */
export function testRedisConnections(name: string, options: TestOptions, make: MakeRedis): void {
  const it = (title: string, run: (connected: Connected) => Promise<void>): void => {
    test(`${name}: ${title}`, options, async (t) => run(await connect(t, await make(t))));
  };

  it('replies come in the order of the commands', async ({ commands }) => {
    const replies = await commands.send([
      ['SET', 'a', '1'],
      ['GET', 'a'],
      ['SET', 'a', '2', 'NX'],
      ['MGET', 'a', 'missing'],
      ['DEL', 'a'],
      ['GET', 'a'],
    ]);
    assert.deepEqual(values(replies), ['OK', '1', null, ['1', null], 1, null]);
  });

  it('a command that Redis refuses is answered by an error, and the others are run', async ({ commands }) => {
    const replies = await commands.send([
      ['SET', 'a', '1'],
      ['SET', 'a'],
      ['SET', 'a', '2'],
    ]);
    assert.deepEqual(replies.map(outcome), ['OK', 'ERR', 'OK']);
    assert.deepEqual(values(await commands.send([['GET', 'a']])), ['2']);
  });

  it('a transaction gives the reply to each of its commands', async ({ commands }) => {
    const replies = await commands.transact([
      ['SET', 'a', '1'],
      ['PUBLISH', 'unheard', 'x'],
      ['GET', 'a'],
    ]);
    assert.deepEqual(values(replies), ['OK', 0, '1']);
  });

  it('a transaction with a command that can’t be is not run at all', async ({ commands, listening }) => {
    const inbox = await inboxOf(listening);
    await assert.rejects(
      commands.transact([
        ['PUBLISH', 'news', 'refused'],
        ['SET', 'a'],
      ]),
      refusedFor('ERR'),
    );
    await commands.send([['PUBLISH', 'news', 'run']]);
    assert.deepEqual(await inbox.until(1), ['run']);
  });

  it('a transaction that has no memory is not run at all', async ({ commands, admin }) => {
    await admin.send([['CONFIG', 'SET', 'maxmemory', '1']]);
    await assert.rejects(
      commands.transact([
        ['PUBLISH', 'news', 'x'],
        ['SET', 'a', '1'],
      ]),
      refusedFor('OOM'),
    );
    await admin.send([['CONFIG', 'SET', 'maxmemory', '0']]);
    assert.deepEqual(values(await commands.send([['GET', 'a']])), [null]);
  });

  it('a transaction with a command that is not permitted is not run at all', async ({ commands, admin }) => {
    await admin.send([['ACL', 'SETUSER', 'default', '-publish']]);
    await assert.rejects(
      commands.transact([
        ['SET', 'a', '1'],
        ['PUBLISH', 'news', 'x'],
      ]),
      refusedFor('NOPERM'),
    );
    assert.deepEqual(values(await commands.send([['GET', 'a']])), [null]);
  });

  it('a replica says that it is one, and refuses to write', async ({ commands, admin }) => {
    assert.equal((await inspect(commands)).role, 'master');
    await admin.send([['REPLICAOF', '127.0.0.1', '1']]);
    assert.equal((await inspect(commands)).role, 'replica');
    await assert.rejects(commands.transact([['SET', 'a', '1']]), refusedFor('READONLY'));
    const replies = await commands.send([['SET', 'a', '1']]);
    assert.deepEqual(replies.map(outcome), ['READONLY']);
    await admin.send([['REPLICAOF', 'NO', 'ONE']]);
    assert.equal((await inspect(commands)).role, 'master');
  });

  it('a replica takes PUBLISH all the same, for its own clients', async ({ commands, listening, admin }) => {
    const inbox = await inboxOf(listening);
    await admin.send([['REPLICAOF', '127.0.0.1', '1']]);
    assert.deepEqual(values(await commands.send([['PUBLISH', 'news', 'x']])), [1]);
    assert.deepEqual(await inbox.until(1), ['x']);
  });

  it('a server that was a replica has another replication ID once it is promoted', async ({
    commands,
    admin,
  }) => {
    const { replicationId } = await inspect(commands);
    assert.match(String(replicationId), /^\w+$/);
    assert.equal((await inspect(commands)).replicationId, replicationId);
    await admin.send([['REPLICAOF', '127.0.0.1', '1']]);
    await admin.send([['REPLICAOF', 'NO', 'ONE']]);
    assert.notEqual((await inspect(commands)).replicationId, replicationId);
  });

  it('once a channel is joined, what is published comes, in order', async ({ commands, listening }) => {
    const inbox = await inboxOf(listening);
    const sent = range(0, 100).map(String);
    const replies = await commands.send(sent.map((payload) => ['PUBLISH', 'news', payload] as const));
    assert.deepEqual(new Set(values(replies)), new Set([1]));
    assert.deepEqual(await inbox.until(100), sent);
  });

  it('messages of several channels come in the order of their publishing', async ({
    commands,
    listening,
  }) => {
    const inbox = new Inbox();
    await Promise.all([listening.join('one', inbox.take), listening.join('other', inbox.take)]);
    const sent = range(0, 20).map(String);
    await commands.transact(
      sent.map((payload, index) => ['PUBLISH', index % 2 === 0 ? 'one' : 'other', payload] as const),
    );
    assert.deepEqual(await inbox.until(20), sent);
  });

  it('Redis counts who has joined, and who has left', async ({ commands, listening }) => {
    const count = async (): Promise<unknown> =>
      values(await commands.send([['PUBSUB', 'NUMSUB', 'news', 'other']]))[0];
    await listening.join('news', () => undefined);
    assert.deepEqual(await count(), ['news', 1, 'other', 0]);
    listening.leave('news');
    // The acknowledgement of a later join comes after the leave has been taken.
    await listening.join('last', () => undefined);
    assert.deepEqual(await count(), ['news', 0, 'other', 0]);
  });

  it('a join that Redis refuses rejects', async ({ listening, admin }) => {
    await admin.send([['ACL', 'SETUSER', 'default', '-subscribe']]);
    await assert.rejects(
      listening.join('news', () => undefined),
      /NOPERM/,
    );
  });

  it('a new connection is on all channels before it is ready', async (connected) => {
    const { commands, listening, listeningLife, admin } = connected;
    const inbox = new Inbox();
    await Promise.all([listening.join('news', inbox.take), listening.join('other', inbox.take)]);
    await admin.send([['CLIENT', 'KILL', 'TYPE', 'pubsub']]);
    await listeningLife.until('lost', 'ready');
    await commands.send([
      ['PUBLISH', 'news', 'a'],
      ['PUBLISH', 'other', 'b'],
    ]);
    assert.deepEqual(await inbox.until(2), ['a', 'b']);
  });

  it('a new connection is not ready while Redis refuses its channels, and is made again until it does not', async (connected) => {
    const { commands, listening, listeningLife, admin } = connected;
    const inbox = await inboxOf(listening);
    await admin.send([['ACL', 'SETUSER', 'default', '-subscribe']]);
    await admin.send([['CLIENT', 'KILL', 'TYPE', 'pubsub']]);
    await listeningLife.until('lost');
    await eventually(async () => {
      const refused = refusedJoins(await admin.send([['INFO', 'commandstats']]));
      const isReady = listeningLife.states.length > 2;
      assert.ok(refused >= 2 || isReady, `expected two joins to be refused, got ${refused}`);
    });
    assert.deepEqual(listeningLife.states, ['ready', 'lost']);
    await admin.send([['ACL', 'SETUSER', 'default', '+subscribe']]);
    await listeningLife.until('ready');
    await commands.send([['PUBLISH', 'news', 'a']]);
    assert.deepEqual(await inbox.until(1), ['a']);
  });

  it('a channel may be joined while the connection is lost', async (connected) => {
    const { commands, listening, listeningLife } = connected;
    listening.reconnect();
    await listeningLife.until('lost');
    const inbox = await inboxOf(listening);
    await commands.send([['PUBLISH', 'news', 'a']]);
    assert.deepEqual(await inbox.until(1), ['a']);
  });

  it('a paused connection brings nothing until it is resumed, and then all', async (connected) => {
    const { commands, listening } = connected;
    const inbox = await inboxOf(listening);
    listening.pause();
    const sent = range(0, 50).map(String);
    for (const payload of sent) await commands.send([['PUBLISH', 'news', payload]]);
    assert.deepEqual(inbox.messages, []);
    listening.resume();
    assert.deepEqual(await inbox.until(50), sent);
  });

  it('a new connection begins to read, though the one before was paused', async (connected) => {
    const { commands, listening, listeningLife } = connected;
    const inbox = await inboxOf(listening);
    listening.pause();
    listening.reconnect();
    await listeningLife.until('lost', 'ready');
    await commands.send([['PUBLISH', 'news', 'a']]);
    assert.deepEqual(await inbox.until(1), ['a']);
  });

  it('bytes that have come are counted, from 0 on each connection', async (connected) => {
    const { commands, listening, listeningLife } = connected;
    const inbox = await inboxOf(listening);
    const before = listening.bytesRead;
    await commands.send([['PUBLISH', 'news', 'x'.repeat(10_000)]]);
    await inbox.until(1);
    assert.ok(listening.bytesRead >= before + 10_000, `${listening.bytesRead} bytes after ${before}`);
    listening.reconnect();
    await listeningLife.until('lost', 'ready');
    assert.ok(listening.bytesRead < 10_000, `${listening.bytesRead} bytes on a new connection`);
  });

  it('commands under way are rejected when the connection is closed, and later ones at once', async (connected) => {
    const { commands, commandsLife } = connected;
    const underWay = commands.send([['GET', 'a']]);
    commands.reconnect();
    await assert.rejects(underWay);
    await assert.rejects(commands.send([['GET', 'a']]));
    await assert.rejects(
      commands.transact([['GET', 'a']]),
      (error) => !(error instanceof TransactionRefused),
    );
    await commandsLife.until('lost', 'ready');
    assert.deepEqual(values(await commands.send([['GET', 'a']])), [null]);
    assert.deepEqual(commandsLife.states, ['ready', 'lost', 'ready']);
  });

  it('a connection that the server closes is made again', async (connected) => {
    const { commands, commandsLife, admin } = connected;
    await admin.send([['CLIENT', 'KILL', 'TYPE', 'normal']]);
    await commandsLife.until('lost', 'ready');
    assert.deepEqual(values(await commands.send([['GET', 'a']])), [null]);
  });

  it('a connection that is stopped takes no commands', async ({ commands, listening }) => {
    commands.stop();
    listening.stop();
    await assert.rejects(commands.send([['GET', 'a']]));
  });
}

/** Returns what comes on the channel `news`, which has been joined. */
export async function inboxOf(listening: ListeningConnection): Promise<Inbox> {
  const inbox = new Inbox();
  await listening.join('news', inbox.take);
  return inbox;
}

async function connect(t: TestContext, under: RedisUnderTest): Promise<Connected> {
  const [commands, admin, listening] = [under.commands(), under.commands(), under.listening()];
  const [commandsLife, listeningLife] = [Watched.start(t, commands), Watched.start(t, listening)];
  const lives = [commandsLife, listeningLife, Watched.start(t, admin)];
  await Promise.all(lives.map((life) => life.until('ready')));
  return { commands, listening, admin, commandsLife, listeningLife };
}

function values(replies: readonly Reply[]): unknown[] {
  return replies.map((reply) => {
    if ('error' in reply) throw reply.error;
    return reply.value;
  });
}

/** The value; or the first word of the error, which says what kind it is. */
function outcome(reply: Reply): unknown {
  return 'error' in reply ? reply.error.message.split(' ')[0] : reply.value;
}

/** How often Redis has refused a SUBSCRIBE. */
function refusedJoins(replies: readonly Reply[]): number {
  const [, count] = /^cmdstat_subscribe:.*rejected_calls=(\d+)/m.exec(String(values(replies)[0])) ?? [];
  return Number(count ?? 0);
}

async function inspect(commands: CommandConnection): Promise<Server> {
  return inspectedServer(values(await commands.send([INSPECTION]))[0]);
}

function refusedFor(kind: string): (error: unknown) => boolean {
  return (error) => error instanceof TransactionRefused && error.reason.startsWith(kind);
}

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ResumingClient } from '../../../loadtest/chaos/resuming-client.ts';
import type { Result } from '../../../src/client/graphql-ws.ts';
import { ScriptedServer } from '../../helpers/scripted-server.ts';
import type { Field } from '../../../loadtest/chaos/subscriptions.ts';

type Operation = Awaited<ReturnType<ScriptedServer['operation']>>;

/** A gateway that says what the test wants to the one client that it has. */
class Gateway {
  #operation: Operation | undefined;
  readonly #server: ScriptedServer;

  constructor(server: ScriptedServer) {
    this.#server = server;
  }

  /** Resolves with the cursor of the subscription that comes next. */
  async subscribed(): Promise<unknown> {
    this.#operation = await this.#server.operation();
    return this.#operation.resume;
  }

  next(payload: Result): void {
    this.#operation?.next(payload);
  }

  greet(recovered: boolean, cursor?: string): void {
    this.#operation?.greet(recovered, cursor);
  }

  event(n: number, cursor?: string): void {
    this.next({ data: { event: { channel: 'c0', n, sent_at: 0 } }, extensions: { cursor } });
  }

  /** Resolves when the client has read all that was sent. */
  async read(): Promise<void> {
    await this.#operation?.read();
  }

  /** Resolves with the cursor with which the client resumes. */
  async cut(): Promise<unknown> {
    await this.read();
    this.#operation?.cut();
    return this.subscribed();
  }
}

/** A client that has connected, and the gateway that it has subscribed to. */
async function connect(t: TestContext, field: Field = 'update') {
  const server = await ScriptedServer.start(t);
  const gateway = new Gateway(server);
  const client = new ResumingClient({
    client: 0,
    subscription: { field, channels: ['c0'] },
    endpoint: { host: '127.0.0.1', port: Number(new URL(server.url).port) },
    localAddress: '127.0.0.1',
  });
  t.after(() => client.leave());
  client.connect();
  assert.equal(await gateway.subscribed(), null);
  return { client, gateway };
}

/** One that has been greeted. */
async function greeted(t: TestContext) {
  const connected = await connect(t);
  connected.gateway.greet(true, 'start');
  return connected;
}

test('A client resumes behind the last event that it has got', async (t) => {
  const { client, gateway } = await greeted(t);
  gateway.event(1, 'one');
  assert.equal(await gateway.cut(), 'one');
  gateway.greet(true, 'two');
  gateway.event(2, 'two');
  await gateway.read();
  assert.ok(client.isGreeted);
  const { received, returns, unrecovered, faults } = client.account.close({ c0: 2 });
  assert.deepEqual([received, returns, unrecovered, faults], [2, 1, 0, []]);
});

test('A client that is cut again behind the greeting has lost what came with it, and resumes from the greeting', async (t) => {
  const { client, gateway } = await greeted(t);
  await gateway.read();
  const returned = gateway.subscribed();
  client.cut({ again: true });
  assert.equal(await returned, 'start');
  const resumed = gateway.subscribed();
  gateway.greet(true, 'start');
  gateway.event(1, 'one');
  assert.equal(await resumed, 'start');
  assert.equal(client.account.close({ c0: 1 }).received, 0);
});

test('recovered: false tells of what is missing before the next event', async (t) => {
  const { client, gateway } = await greeted(t);
  assert.equal(await gateway.cut(), 'start');
  gateway.greet(false, 'two');
  gateway.event(3, 'three');
  await gateway.read();
  const { lost, unrecovered } = client.account.close({ c0: 3 });
  assert.deepEqual([lost, unrecovered], [{ told: 2, late: 0, untold: 0 }, 1]);
});

test('A client without a cursor knows itself that it may have missed events, even if the gateway says that it has not', async (t) => {
  const { client, gateway } = await connect(t, 'unkept_update');
  gateway.greet(false);
  assert.equal(await gateway.cut(), null);
  gateway.greet(true, 'two');
  gateway.event(3, 'three');
  await gateway.read();
  const { lost, faults } = client.account.close({ c0: 3 });
  assert.deepEqual([lost, faults], [{ told: 2, late: 0, untold: 0 }, []]);
});

test('A gap tells of what is missing', async (t) => {
  const { client, gateway } = await greeted(t);
  gateway.next({ data: null, extensions: { gap: { topic: 'chaos', at: 0 } } });
  gateway.event(2, 'two');
  await gateway.read();
  const { lost, gaps } = client.account.close({ c0: 2 });
  assert.deepEqual([lost, gaps], [{ told: 1, late: 0, untold: 0 }, 1]);
});

test('What the first greeting says does not tell of what is missing behind it', async (t) => {
  const { client, gateway } = await connect(t, 'unkept_update');
  gateway.greet(false);
  gateway.event(2);
  await gateway.read();
  assert.equal(client.account.close({ c0: 2 }).lost.untold, 1);
});

const EVENT = { data: { event: { channel: 'c0', n: 1, sent_at: 0 } } };
const greeting = (extensions: object) => ({ data: null, extensions });
const GREETING = greeting({ recovered: true, cursor: 'start' });

for (const [what, messages, complaint] of [
  ['An event before the greeting', [EVENT], /^expected a greeting first, got .*"n":1/],
  ['A second greeting', [GREETING, GREETING], /^expected one greeting, got /],
  ['recovered: true without a cursor', [greeting({ recovered: true })], /^expected a cursor of /],
  ['A greeting that can not be read', [greeting({ recovered: 'yes' })], /^expected recovered to be/],
  [
    'A new subscription that is not recovered',
    [greeting({ recovered: false, cursor: 'start' })],
    /^expected recovered: true of a new subscription, got /,
  ],
  ['An event without a cursor', [GREETING, EVENT], /^expected an event with a cursor, got /],
  ['An error in place of an event', [GREETING, { data: null, errors: [] }], /^expected an event, got /],
] as const) {
  test(`${what} is a fault`, async (t) => {
    const { client, gateway } = await connect(t);
    for (const message of messages) gateway.next(message);
    await gateway.read();
    const { faults } = client.account.close({});
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(faults[0] ?? '', complaint);
  });
}

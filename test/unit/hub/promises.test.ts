import assert from 'node:assert/strict';
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import test from 'node:test';
import type { GraphContext } from '../../../src/graph/api/context.ts';
import { SendQueue } from '../../../src/transports/delivery/send-queue.ts';
import type { Json } from '../../../src/lazy/reads.ts';
import { WebSocketSubscription } from '../../../src/transports/websocket/subscription.ts';
import { FakeFrameSink } from '../../helpers/fake-frame-sink.ts';
import { budgetOf, setUpSeen } from './parts.ts';
import { turnsUntil } from '../../helpers/turns-until.ts';

const EVENTS = 100;
const ROLES = ['bidder', 'agent', 'admin'];

type Resolve = (source: unknown, args: unknown, ctx: GraphContext) => unknown;

/** Counts frames, and keeps nothing. */
class CountingSink extends FakeFrameSink {
  frames = 0;

  override write(bytes: Buffer, length: number): void {
    this.frames += bytes.toString('utf8', 0, length).split('"type":"next"}').length - 1;
  }
}

const none = (): void => undefined;

/** Subscribers of one field behind a hub, whose channel the test speaks on. */
function subscribed(count: number, resolve: Resolve) {
  const flusher = budgetOf();
  const options = { budget: flusher, hasResolvers: true, concurrency: 100, maxWaiting: EVENTS };
  const { hub, bus, value, schema, asked } = setUpSeen(resolve, options);
  const wires = Array.from({ length: count }, (_, index) => {
    const wire = new CountingSink();
    const viewer: Json = Object.freeze({ id: index, role: ROLES[index % ROLES.length] ?? '' });
    const sendQueue = new SendQueue(wire, wire, flusher, 1_000_000);
    const connection = { sendQueue, schema, viewer, joined: none, left: none, reconnect: none };
    const subscription = new WebSocketSubscription(String(index), asked, {}, connection);
    const group = hub.join(asked, {}, subscription);
    assert.ok('plan' in group);
    subscription.joined(group);
    return wire;
  });
  const send = (n: number): void => bus.carry('bids', n, { n });
  return { wires, send, value };
}

/** Promises made from an event's arrival until its frames are written; those of the test itself are not counted. */
async function promisesOf(count: number, resolve: Resolve, executions: number): Promise<number> {
  const { wires, send, value } = subscribed(count, resolve);
  const within = new AsyncLocalStorage<true>();
  let promises = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (type === 'PROMISE' && within.getStore() === true) promises += 1;
    },
  });
  hook.enable();
  within.run(true, () => {
    for (let n = 0; n < EVENTS; n += 1) send(n);
  });
  await turnsUntil(() => wires.every(({ frames }) => frames >= EVENTS));
  hook.disable();
  assert.ok(wires.every(({ frames }) => frames === EVENTS));
  assert.equal(await value('executions'), executions * EVENTS);
  return promises;
}

const sayNumber: Resolve = (event) => String((event as { n: number }).n);
const sayRole: Resolve = (_event, _args, { viewer }) => viewer['role'];
const sayRoleLater: Resolve = async (_event, _args, { viewer }) => viewer['role'];

test('with synchronous resolvers the gateway makes no promise from event to frame, for 10 subscribers or 1,000', async () => {
  assert.equal(await promisesOf(10, sayNumber, 1), 0);
  assert.equal(await promisesOf(1_000, sayNumber, 1), 0);
});

test('with synchronous resolvers that read the role the gateway makes no promise either', async () => {
  assert.equal(await promisesOf(10, sayRole, 3), 0);
  assert.equal(await promisesOf(1_000, sayRole, 3), 0);
});

test('with asynchronous resolvers the gateway makes promises for each execution, not for each subscriber', async () => {
  const few = await promisesOf(12, sayRoleLater, 3);
  assert.ok(few >= 3 * EVENTS, `${few} promises`);
  assert.equal(await promisesOf(1_200, sayRoleLater, 3), few);
});

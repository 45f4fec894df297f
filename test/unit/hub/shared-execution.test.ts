import assert from 'node:assert/strict';
import test from 'node:test';
import { buildSchema, type ExecutionResult } from 'graphql';
import { Contexts } from '../../../src/context/event-scope.ts';
import { Executor } from '../../../src/executor/executor.ts';
import { Operation } from '../../../src/executor/operation.ts';
import type { GraphContext } from '../../../src/graph/api/context.ts';
import type { EventFilter } from '../../../src/graph/graph.ts';
import type { Event } from '../../../src/events/event.ts';
import { BoundedLabels } from '../../../src/support/bounded-labels.ts';
import { systemTimers } from '../../../src/support/clock.ts';
import { Flusher } from '../../../src/transports/delivery/flusher.ts';
import { Group } from '../../../src/hub/group.ts';
import { ReplayedResults } from '../../../src/hub/resume/replayed-results.ts';
import { FairLimiter } from '../../../src/support/fair-limiter.ts';
import { ReadSet, type Json } from '../../../src/lazy/reads.ts';
import { createLog } from '../../../src/log.ts';
import { DueThrottles } from '../../../src/hub/throttle/due-throttles.ts';
import { HeldBytes } from '../../../src/hub/throttle/held-bytes.ts';
import { Metrics } from '../../../src/metrics.ts';
import { FakeSubscriber, settled } from './parts.ts';

const log = createLog('silent');

type Resolve = (event: Event, ctx: GraphContext) => unknown;

interface Result {
  readonly data?: { readonly see: { readonly said: unknown } | null } | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: object }[];
}

class Viewer extends FakeSubscriber {
  declare readonly results: Result[];

  get said(): unknown[] {
    return this.results.map(({ data }) => data?.see?.said);
  }
}

interface Options {
  readonly shares?: boolean;
  readonly filter?: EventFilter;
  readonly concurrency?: number;
  readonly timeoutMs?: number;
  /** The field has a scalar type that takes any value as it is. */
  readonly scalar?: boolean;
}

/** A group whose only field says what `resolve` makes of event and context. */
function groupOf(resolve: Resolve, viewers: readonly Json[], options: Options = {}) {
  const schema = buildSchema(
    `type Query { a: Int } type Subscription { see: Seen } type Seen { said: ${options.scalar === true ? 'Any' : 'String'} } scalar Any`,
  );
  const field = schema.getType('Seen');
  assert.ok(field && 'getFields' in field);
  const see = schema.getSubscriptionType()?.getFields()['see'];
  assert.ok(see);
  see.resolve = (event: unknown) => event;
  const said = field.getFields()['said'];
  assert.ok(said && 'args' in said);
  said.resolve = (event: Event, _args, ctx: GraphContext) => resolve(event, ctx);
  const executor = new Executor({ schema, cacheSize: 10, maskErrors: false, log });
  const operation = executor.prepare('subscription { see { said } }');
  assert.ok(operation instanceof Operation);
  const metrics = new Metrics();
  const contexts = new Contexts({}, { bind: () => ({}) }, Date.now);
  const budget = new Flusher(Date.now, () => undefined);
  const group = new Group(
    {
      operation,
      key: '',
      variables: {},
      topic: 't',
      channels: ['c'],
      field: 'see',
      filter: options.filter,
      shares: options.shares ?? true,
      replay: 0,
    },
    {
      executor,
      budget,
      delivery: { budget, metrics, log },
      now: () => 0,
      limiter: new FairLimiter(options.concurrency ?? 10_000),
      late: new FairLimiter(Infinity),
      replayed: new ReplayedResults(),
      paths: new BoundedLabels(),
      metrics,
      log,
      maxWaiting: 100,
      heldBytes: new HeldBytes(),
      dueThrottles: new DueThrottles(budget, log),
      timers: systemTimers,
      timeoutMs: options.timeoutMs ?? 60_000,
    },
  );
  const subscribers = viewers.map((viewer) => new Viewer(viewer));
  for (const subscriber of subscribers) group.add(subscriber);
  let offset = 0;
  const send = (event: Event): void => {
    offset += 1;
    budget.renew();
    group.dispatch(
      { v: 1, t: 't', p: 0, o: offset, ts: offset, in: 0, key: null, event },
      contexts.scopeOf(event),
    );
  };
  const executions = async (): Promise<number> => (await metrics.executions.get()).values[0]?.value ?? 0;
  /** How many executions one event takes. */
  const cost = async (event: Event): Promise<number> => {
    const before = await executions();
    send(event);
    await settled();
    return (await executions()) - before;
  };
  return { group, subscribers, send, cost, executions, metrics };
}

const people = (count: number): Json[] =>
  Array.from({ length: count }, (_, id) => ({ id, role: ['bidder', 'agent', 'admin'][id % 3] ?? '' }));

test('with a resolver that reads nothing of the viewer, an event is executed once for 4,000 subscribers', async () => {
  const { cost, subscribers } = groupOf((event) => event['n'], people(4_000));
  assert.equal(await cost({ n: 1 }), 1);
  assert.ok(subscribers.every(({ said }) => said[0] === '1'));
});

test('with a resolver that reads the role, an event is executed once for each role', async () => {
  const { cost, subscribers, metrics } = groupOf((_event, { viewer }) => viewer['role'], people(4_000));
  assert.equal(await cost({}), 3);
  assert.equal(await cost({}), 3);
  for (const { viewer, said } of subscribers)
    assert.deepEqual(
      said,
      [1, 2].map(() => (viewer as { role: string }).role),
    );
  const unshared = (await metrics.unsharedExecutions.get()).values;
  assert.deepEqual(
    unshared.map(({ labels, value }) => [labels, value]),
    [[{ field: 'see', path: 'role' }, 4]],
  );
});

test('with a resolver that reads the id, an event is executed for each subscriber', async () => {
  const { cost, subscribers } = groupOf((_event, { viewer }) => viewer['id'], people(4_000));
  assert.equal(await cost({}), 4_000);
  for (const [id, { said }] of subscribers.entries()) assert.deepEqual(said, [String(id)]);
});

test('with reads that depend on the event, each event takes as many executions as its own reads need', async () => {
  const { cost } = groupOf(
    (event, { viewer }) => (event['private'] === true ? viewer['id'] : 'all'),
    people(4_000),
  );
  for (const [isPrivate, expected] of [
    [true, 4_000],
    [false, 1],
    [true, 4_000],
    [false, 1],
  ] as const) {
    assert.equal(await cost({ private: isPrivate }), expected);
  }
});

test('reads that depend on other reads split only the subscribers for whom they happen', async () => {
  const { cost, subscribers } = groupOf(
    (_event, { viewer }) => (viewer['role'] === 'admin' ? `admin ${String(viewer['id'])}` : viewer['role']),
    people(300),
  );
  assert.equal(await cost({}), 2 + 100);
  for (const { viewer, said } of subscribers) {
    const { id, role } = viewer as { id: number; role: string };
    assert.deepEqual(said, [role === 'admin' ? `admin ${id}` : role]);
  }
});

test('a subscriber that joins or leaves between events is added to or removed from its own bucket', async () => {
  const { group, subscribers, cost } = groupOf((_event, { viewer }) => viewer['role'], people(9));
  assert.equal(await cost({}), 3);
  for (const subscriber of subscribers.filter(
    ({ viewer }) => (viewer as { role: string }).role === 'admin',
  )) {
    group.remove(subscriber);
  }
  const newcomer = new Viewer({ role: 'guest' });
  group.add(newcomer);
  assert.equal(await cost({}), 3);
  assert.deepEqual(newcomer.said, ['guest']);
  assert.deepEqual(subscribers[2]?.said, ['admin']);
});

test('sharing: NEVER executes for each subscriber alone, though resolvers read nothing of the viewer', async () => {
  const { cost } = groupOf(() => 'same', people(20), { shares: false });
  assert.equal(await cost({}), 20);
});

test('a filter on the viewer runs once per distinct value, and its reads do not split the execution for the subscribers', async () => {
  let asked = 0;
  const reads = new ReadSet();
  reads.add('whole', ['id']);
  const filter: EventFilter = {
    reads,
    passes: (event, viewer) => {
      asked += 1;
      return (event['watchers'] as number[]).includes((viewer as { id: number }).id);
    },
  };
  const { cost, subscribers } = groupOf(() => 'seen', people(100), { filter });
  assert.equal(await cost({ watchers: Array.from({ length: 50 }, (_, id) => id * 2) }), 1);
  assert.equal(asked, 100);
  assert.deepEqual(
    subscribers.map(({ said }) => said.length),
    people(100).map((_, id) => 1 - (id % 2)),
  );
  assert.equal(await cost({ watchers: [] }), 0);
});

/** Resolvers that wait until the test lets them go on, by what they wait for. */
class Gates {
  readonly #open = new Map<string, () => void>();
  wait(name: string): Promise<void> {
    return new Promise((resolve) => this.#open.set(name, resolve));
  }
  async open(name: string): Promise<void> {
    this.#open.get(name)?.();
    await settled();
  }
}

test('a back end that is slow for one role delays subscribers of that role only, and each subscriber gets results in order', async () => {
  const gates = new Gates();
  const { subscribers, send } = groupOf(async (event, { viewer }) => {
    const role = String(viewer['role']);
    if (role === 'bidder') await gates.wait(`slow ${String(event['n'])}`);
    return `${role} ${String(event['n'])}`;
  }, people(6));
  send({ n: 1 });
  send({ n: 2 });
  await settled();
  const said = (): unknown[] => subscribers.slice(0, 3).map((subscriber) => subscriber.said);
  assert.deepEqual(said(), [[], ['agent 1', 'agent 2'], ['admin 1', 'admin 2']]);
  await gates.open('slow 2');
  assert.deepEqual(said()[0], []);
  await gates.open('slow 1');
  assert.deepEqual(said()[0], ['bidder 1', 'bidder 2']);
  send({ n: 3 });
  await gates.open('slow 3');
  assert.deepEqual(
    said(),
    [1, 2, 3]
      .map((n) => ['bidder', 'agent', 'admin'].map((role) => `${role} ${n}`))
      .reduce<string[][]>(
        (columns, row) => columns.map((column, index) => [...column, row[index] ?? '']),
        [[], [], []],
      ),
  );
});

test('reads after a wait split the subscribers that still share the execution', async () => {
  const { subscribers, cost } = groupOf(
    async (_event, { viewer }) => {
      const role = viewer['role'];
      await Promise.resolve();
      return `${String(role)} ${Number(viewer['id']) % 2}`;
    },
    [
      { id: 0, role: 'a' },
      { id: 1, role: 'a' },
      { id: 0, role: 'a' },
      { id: 0, role: 'b' },
    ],
  );
  assert.equal(await cost({}), 3);
  assert.deepEqual(
    subscribers.map(({ said }) => said),
    [['a 0'], ['a 1'], ['a 0'], ['b 0']],
  );
});

test('a subscriber that joins or leaves while an event is being executed does not get it', async () => {
  const gates = new Gates();
  const { group, subscribers, send } = groupOf(
    async (event, { viewer }) => {
      const role = viewer['role'];
      await gates.wait(String(event['n']));
      return `${String(role)} ${String(event['n'])}`;
    },
    [{ role: 'a' }, { role: 'a' }],
  );
  send({ n: 1 });
  const late = new Viewer({ role: 'a' });
  group.add(late);
  const [stays, leaves] = subscribers;
  if (leaves) group.remove(leaves);
  send({ n: 2 });
  await gates.open('2');
  await gates.open('1');
  assert.deepEqual(stays?.said, ['a 1', 'a 2']);
  assert.deepEqual(leaves?.said, []);
  assert.deepEqual(late.said, ['a 2']);
});

test('a subscriber that leaves after a shared execution was split does not get the result', async () => {
  const gates = new Gates();
  const { group, subscribers, send } = groupOf(
    async (_event, { viewer }) => {
      const role = String(viewer['role']);
      await gates.wait(`first ${String(viewer['id'])}`);
      const parity = Number(viewer['id']) % 2;
      await gates.wait(`second ${String(viewer['id'])}`);
      return `${role} ${parity}`;
    },
    [0, 1, 3, 5].map((id) => ({ id, role: 'a' })),
  );
  send({});
  await gates.open('first 0');
  await gates.open('second 0');
  // Now the subscribers with odd ids share an execution for the first of them.
  await gates.open('first 1');
  const leaves = subscribers[2];
  if (leaves) group.remove(leaves);
  await gates.open('second 1');
  for (const id of [3, 5]) {
    await gates.open(`first ${id}`);
    await gates.open(`second ${id}`);
  }
  assert.deepEqual(
    subscribers.map(({ said }) => said),
    [['a 0'], ['a 1'], [], ['a 1']],
  );
});

test('when the subscriber that an execution is for leaves while it waits, no other subscriber gets the result made for its viewer', async () => {
  for (const count of [2, 3, 5]) {
    const waiting: (() => void)[] = [];
    const { group, subscribers, send } = groupOf(async (_event, { viewer }) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return `for ${String(viewer['id'])}`;
    }, people(count));
    send({});
    await settled();
    const [first] = subscribers;
    if (first) group.remove(first);
    while (subscribers.slice(1).some(({ said }) => said.length === 0)) {
      assert.ok(waiting.length > 0, 'an execution is under way');
      for (const go of waiting.splice(0)) go();
      await settled();
    }
    assert.deepEqual(
      subscribers.map(({ said }) => said),
      subscribers.map((_, id) => (id === 0 ? [] : [`for ${id}`])),
    );
  }
});

test('reads of the viewer that happen only when the result is serialised count as reads', async () => {
  for (const waits of [false, true]) {
    const { subscribers, cost } = groupOf(
      (_event, { viewer }) => {
        const lazy = { toJSON: () => viewer['id'], toString: () => String(viewer['id']) };
        return waits ? Promise.resolve().then(() => lazy) : lazy;
      },
      people(3),
      { scalar: true },
    );
    assert.equal(await cost({}), 3);
    assert.deepEqual(
      subscribers.map(({ said }) => said),
      [[0], [1], [2]],
    );
  }
});

test('no execution is for a subscriber that has left, or that joined after the event', async () => {
  const gates = new Gates();
  const { group, subscribers, send, executions } = groupOf(
    async (_event, { viewer }) => {
      const id = viewer['id'];
      await gates.wait('go');
      return id;
    },
    people(20),
    { shares: false, concurrency: 1 },
  );
  send({});
  await settled();
  for (const subscriber of subscribers.slice(1)) group.remove(subscriber);
  for (let id = 100; id < 110; id += 1) group.add(new Viewer({ id }));
  await gates.open('go');
  await settled();
  assert.equal(await executions(), 1);
  assert.deepEqual(subscribers[0]?.said, ['0']);
});

test('a filter that throws rejects the event, and subscribers get the next one', async () => {
  const reads = new ReadSet();
  const filter: EventFilter = {
    reads,
    passes: (event) => {
      if (event['n'] === 1) throw new Error('a scalar of the graph failed on purpose');
      return true;
    },
  };
  const { subscribers, send } = groupOf((event) => event['n'], people(2), { filter });
  for (const n of [1, 2]) send({ n });
  await settled();
  assert.deepEqual(
    subscribers.map(({ said }) => said),
    [['2'], ['2']],
  );
});

test('an execution that reads its signal only after it was given up finds it aborted', async () => {
  const gates = new Gates();
  let aborted: boolean | undefined;
  const { subscribers, send } = groupOf(
    async (_event, ctx) => {
      await gates.wait('slow');
      aborted = ctx.signal.aborted;
      return 'late';
    },
    [{}],
    { timeoutMs: 5 },
  );
  send({});
  while (subscribers[0]?.results.length === 0) await settled();
  await gates.open('slow');
  assert.equal(aborted, true);
});

test('no more asynchronous executions run at once than the limit, and all run in the end', async () => {
  let running = 0;
  let most = 0;
  const { subscribers, send } = groupOf(
    async (_event, { viewer }) => {
      const id = viewer['id'];
      running += 1;
      most = Math.max(most, running);
      await settled();
      running -= 1;
      return id;
    },
    people(50),
    { concurrency: 5 },
  );
  send({});
  while (subscribers.some(({ said }) => said.length === 0)) await settled();
  // The first execution of a group starts before it is known to be asynchronous.
  assert.ok(most <= 6, `at most 6, got ${most}`);
  assert.deepEqual(
    subscribers.map(({ said }) => said),
    subscribers.map((_, id) => [String(id)]),
  );
});

test('an execution that takes too long is given up: the subscriber gets an error in its place, and its signal is aborted', async () => {
  let signal: AbortSignal | undefined;
  const { subscribers, send, metrics } = groupOf(
    (event, ctx) => {
      if (event['n'] !== 1) return 'quick';
      signal = ctx.signal;
      return new Promise(() => undefined);
    },
    [{}],
    { timeoutMs: 5 },
  );
  send({ n: 1 });
  send({ n: 2 });
  while ((subscribers[0]?.results.length ?? 0) < 2) await settled();
  assert.deepEqual(subscribers[0]?.results[0]?.errors?.[0]?.extensions, { code: 'EXECUTE_TIMEOUT' });
  assert.deepEqual(subscribers[0]?.said[1], 'quick');
  assert.equal(signal?.aborted, true);
  assert.equal((await metrics.executionTimeouts.get()).values[0]?.value, 1);
});

/** Numbers that are the same in each run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const PATHS = [['a'], ['b'], ['c'], ['o', 'a'], ['o', 'b'], ['list', '0'], ['list', 'length'], ['missing']];

function randomViewer(random: () => number): Json {
  const value = (): Json => [0, 1, '1', null][Math.floor(random() * 4)] ?? null;
  const viewer: Record<string, Json> = {};
  for (const key of ['a', 'b', 'c']) if (random() < 0.8) viewer[key] = value();
  if (random() < 0.8) viewer['o'] = random() < 0.2 ? null : { a: value(), b: value() };
  if (random() < 0.8) viewer['list'] = Array.from({ length: Math.floor(random() * 3) }, value);
  return viewer;
}

const at = (viewer: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], viewer);

/** A resolver that reads random paths, in an order that depends on what it reads, sometimes after a wait. */
function randomResolve(seed: number, waits: boolean): Resolve {
  return (event, { viewer }) => {
    const random = randomFrom(seed + Number(event['n']));
    const heard: string[] = [];
    const look = (): void => {
      const how = random();
      const path = PATHS[Math.floor(random() * PATHS.length)] ?? ['a'];
      const seen =
        how < 0.6
          ? at(viewer, path)
          : how < 0.8
            ? (path[0] ?? '') in viewer
            : JSON.stringify(at(viewer, [path[0] ?? '']));
      heard.push(typeof seen === 'object' && seen !== null ? 'object' : `${typeof seen} ${String(seen)}`);
      // The value that was read decides which path is read next.
      for (let skip = heard.join().length % 3; skip > 0; skip -= 1) random();
    };
    const steps = 1 + Math.floor(random() * 4);
    if (!waits) {
      for (let step = 0; step < steps; step += 1) look();
      return heard.join();
    }
    return (async () => {
      for (let step = 0; step < steps; step += 1) {
        look();
        if (random() < 0.5) await Promise.resolve();
      }
      return heard.join();
    })();
  };
}

for (const waits of [false, true]) {
  test(`shared results equal those of executing for each subscriber alone, ${waits ? 'asynchronous' : 'synchronous'} resolvers`, async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = randomFrom(seed);
      const viewers = Array.from({ length: 25 }, () => randomViewer(random));
      const shared = groupOf(randomResolve(seed, waits), viewers);
      const alone = groupOf(randomResolve(seed, waits), viewers, { shares: false });
      for (let n = 0; n < 6; n += 1) {
        shared.send({ n });
        alone.send({ n });
      }
      while (
        shared.subscribers.some(({ said }) => said.length < 6) ||
        alone.subscribers.some(({ said }) => said.length < 6)
      ) {
        await settled();
      }
      assert.deepEqual(
        shared.subscribers.map(({ said }) => said),
        alone.subscribers.map(({ said }) => said),
        `seed ${seed}`,
      );
      assert.ok((await shared.executions()) <= (await alone.executions()));
    }
  });

  test(`resolvers that read fixed paths take the fewest executions possible, ${waits ? 'asynchronous' : 'synchronous'}`, async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = randomFrom(seed * 7);
      const viewers = Array.from({ length: 30 }, () => randomViewer(random));
      const paths = PATHS.filter(() => random() < 0.4);
      const values = (viewer: unknown): string =>
        paths.map((path) => JSON.stringify(at(viewer, path)) ?? 'nothing').join();
      const { cost } = groupOf((_event, { viewer }) => {
        if (!waits) return values(viewer);
        return (async () => {
          for (const path of paths) {
            at(viewer, path);
            await Promise.resolve();
          }
          return values(viewer);
        })();
      }, viewers);
      const parents = (viewer: Json): string =>
        paths
          .map((path) =>
            path
              .map((_, index) => {
                const value = at(viewer, path.slice(0, index + 1));
                if (Array.isArray(value)) return '[';
                return typeof value === 'object' && value !== null
                  ? '{'
                  : (JSON.stringify(value) ?? 'nothing');
              })
              .join('.'),
          )
          .join();
      const least = new Set(viewers.map(parents)).size;
      let count = 0;
      count += await cost({ n: 1 });
      for (let wait = 0; wait < 20; wait += 1) await settled();
      assert.equal(count, least, `seed ${seed}: ${paths.join(' ')}`);
    }
  });
}

test('an execution that fails is an error for the subscribers that share it, and for no others', async () => {
  const { subscribers, cost } = groupOf((_event, { viewer }) => {
    if (viewer['role'] === 'agent') throw new Error('not for agents');
    return viewer['role'];
  }, people(6));
  // graphql-js runs an operation again after compiled code had an error; here nothing is compiled yet.
  assert.equal(await cost({}), 3);
  const results = subscribers.map(
    ({ results: [result] }) => result as ExecutionResult & { errors?: { message: string }[] },
  );
  assert.deepEqual(
    results.map(({ errors }) => errors?.[0]?.message),
    people(6).map((_, id) => (id % 3 === 1 ? 'not for agents' : undefined)),
  );
});

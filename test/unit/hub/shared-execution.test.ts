import assert from 'node:assert/strict';
import test from 'node:test';
import type { GraphContext } from '../../../src/graph/api/context.ts';
import type { Event } from '../../../src/events/event.ts';
import type { Json } from '../../../src/lazy/reads.ts';
import { range, upTo } from '../../helpers/numbers.ts';
import { Random } from '../../helpers/random.ts';
import { FakeSubscriber, filterOn, settled, setUpSeen } from './parts.ts';

type Resolve = (event: Event, ctx: GraphContext) => unknown;
type Options = NonNullable<Parameters<typeof setUpSeen>[1]>;

interface Result {
  readonly data?: { readonly see: { readonly said: unknown } | null } | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: object }[];
}

class Viewer extends FakeSubscriber {
  declare readonly results: Result[];
  declare viewer: { readonly id: number; readonly role: string };

  get said(): unknown[] {
    return this.results.map(({ data }) => data?.see?.said);
  }
}

/** A group whose only field says what `resolve` makes of event and context. @param type of the field */
function groupOf(resolve: Resolve, viewers: readonly Json[], options: Options = {}, type?: string) {
  const said = (event: Event, _args: unknown, ctx: GraphContext) => resolve(event, ctx);
  const bounds = { concurrency: 10_000, maxWaiting: 100 };
  const { hub, bus, value, metrics, asked } = setUpSeen(said, { ...bounds, ...options }, type);
  const add = (viewer: Json): Viewer => new Viewer(viewer).join(hub, asked);
  const subscribers = viewers.map(add);
  let offset = 0;
  const send = (event: Event): void => bus.carry('bids', (offset += 1), event);
  const executions = (): Promise<number> => value('executions');
  /** How many executions one event takes. */
  const cost = async (event: Event): Promise<number> => {
    const before = await executions();
    send(event);
    await settled();
    return (await executions()) - before;
  };
  const heard = (): unknown[][] => subscribers.map((subscriber) => subscriber.said);
  return { add, subscribers, send, cost, executions, said: heard, metrics };
}

const ROLES = ['bidder', 'agent', 'admin'];
const people = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ id, role: ROLES[id % 3] ?? '' }));

const READERS: readonly [string, Resolve, cost: number, (viewer: Viewer['viewer']) => string][] = [
  [
    'with a resolver that reads nothing of the viewer, an event is executed once for 4,000 subscribers',
    (event) => event['n'],
    1,
    () => '1',
  ],
  [
    'with a resolver that reads the id, an event is executed for each subscriber',
    (_event, { viewer }) => viewer['id'],
    4_000,
    ({ id }) => `${id}`,
  ],
  [
    'reads that depend on other reads split only the subscribers for whom they happen',
    (_event, { viewer }) => (viewer['role'] === 'admin' ? `admin ${String(viewer['id'])}` : viewer['role']),
    2 + 1_333,
    ({ id, role }) => (role === 'admin' ? `admin ${id}` : role),
  ],
];

for (const [title, resolve, expected, saidTo] of READERS) {
  test(title, async () => {
    const { cost, subscribers } = groupOf(resolve, people(4_000));
    assert.equal(await cost({ n: 1 }), expected);
    for (const { viewer, said } of subscribers) assert.deepEqual(said, [saidTo(viewer)]);
  });
}

test('with a resolver that reads the role, an event is executed once for each role', async () => {
  const { cost, subscribers, metrics } = groupOf((_event, { viewer }) => viewer['role'], people(40));
  assert.deepEqual([await cost({}), await cost({})], [3, 3]);
  for (const { viewer, said } of subscribers) assert.deepEqual(said, [viewer.role, viewer.role]);
  assert.deepEqual((await metrics.unsharedExecutions.get()).values, [
    { labels: { field: 'see', path: 'role' }, value: 4 },
  ]);
});

test('with reads that depend on the event, each event takes as many executions as its own reads need', async () => {
  const { cost } = groupOf(
    (event, { viewer }) => (event['private'] === true ? viewer['id'] : 'all'),
    people(40),
  );
  for (const expected of [40, 1, 40, 1]) assert.equal(await cost({ private: expected > 1 }), expected);
});

test('viewers are read in more ways than a group keeps in mind, each again and again', async () => {
  const ways = range(0, 12);
  const viewers = [0, 1, 0].map((value) => Object.fromEntries(ways.map((way) => [`f${way}`, value])));
  const { cost, said } = groupOf((event, { viewer }) => viewer[`f${Number(event['way'])}`], viewers);
  for (const way of [...ways, ...ways]) assert.equal(await cost({ way }), 2);
  const expected = ['0', '1', '0'].map((value) => Array(2 * ways.length).fill(value));
  assert.deepEqual(said(), expected);
});

test('a subscriber that joins or leaves between events is added to or removed from its own bucket', async () => {
  const { add, subscribers, cost } = groupOf((_event, { viewer }) => viewer['role'], people(9));
  assert.equal(await cost({}), 3);
  for (const each of subscribers) if (each.viewer.role === 'admin') each.leave();
  const newcomer = add({ role: 'guest' });
  assert.equal(await cost({}), 3);
  assert.deepEqual(newcomer.said, ['guest']);
  assert.deepEqual(subscribers[2]?.said, ['admin']);
});

test('sharing: NEVER executes for each subscriber alone, though resolvers read nothing of the viewer', async () => {
  const { cost } = groupOf(() => 'same', people(20), { binding: { shares: false } });
  assert.equal(await cost({}), 20);
});

test('a filter on the viewer runs once per distinct value, and its reads do not split the execution for the subscribers', async () => {
  let asked = 0;
  const filter = filterOn('id', (event, viewer) => {
    asked += 1;
    return (event['watchers'] as number[]).includes((viewer as { id: number }).id);
  });
  const { cost, said } = groupOf(() => 'seen', people(100), { binding: { filter } });
  assert.equal(await cost({ watchers: upTo(50).map((id) => id * 2) }), 1);
  assert.equal(asked, 100);
  const watching = people(100).map(({ id }) => (id > 0 && id % 2 === 0 ? ['seen'] : []));
  assert.deepEqual(said(), watching);
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
  const { said, send } = groupOf(async (event, { viewer }) => {
    const role = String(viewer['role']);
    if (role === 'bidder') await gates.wait(`slow ${String(event['n'])}`);
    return `${role} ${String(event['n'])}`;
  }, people(3));
  send({ n: 1 });
  send({ n: 2 });
  await settled();
  assert.deepEqual(said(), [[], ['agent 1', 'agent 2'], ['admin 1', 'admin 2']]);
  await gates.open('slow 2');
  assert.deepEqual(said()[0], []);
  await gates.open('slow 1');
  assert.deepEqual(said()[0], ['bidder 1', 'bidder 2']);
  send({ n: 3 });
  await gates.open('slow 3');
  const all = ROLES.map((role) => upTo(3).map((n) => `${role} ${n}`));
  assert.deepEqual(said(), all);
});

test('reads after a wait split the subscribers that still share the execution', async () => {
  const viewers = ['0a', '1a', '0a', '0b'].map(([id = '', role = '']) => ({ id: Number(id), role }));
  const { said, cost } = groupOf(async (_event, { viewer }) => {
    const role = viewer['role'];
    await Promise.resolve();
    return `${String(role)} ${Number(viewer['id']) % 2}`;
  }, viewers);
  assert.equal(await cost({}), 3);
  assert.deepEqual(said(), [['a 0'], ['a 1'], ['a 0'], ['b 0']]);
});

test('when the subscriber that an execution is for leaves while it waits, no other subscriber gets the result made for its viewer', async () => {
  for (const count of [2, 5]) {
    const waiting: (() => void)[] = [];
    const { subscribers, said, send } = groupOf(async (_event, { viewer }) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return `for ${String(viewer['id'])}`;
    }, people(count));
    send({});
    await settled();
    subscribers[0]?.leave();
    while (subscribers.slice(1).some(({ results }) => results.length === 0)) {
      assert.ok(waiting.length > 0, 'an execution is under way');
      for (const go of waiting.splice(0)) go();
      await settled();
    }
    const expected = people(count).map(({ id }) => (id === 0 ? [] : [`for ${id}`]));
    assert.deepEqual(said(), expected);
  }
});

test('reads of the viewer that happen only when the result is serialised count as reads', async () => {
  for (const waits of [false, true]) {
    const { said, cost } = groupOf(
      (_event, { viewer }) => {
        const lazy = { toJSON: () => viewer['id'], toString: () => String(viewer['id']) };
        return waits ? Promise.resolve().then(() => lazy) : lazy;
      },
      people(3),
      {},
      'Any',
    );
    assert.equal(await cost({}), 3);
    assert.deepEqual(said(), [[0], [1], [2]]);
  }
});

test('no execution is for a subscriber that has left, or that joined after the event', async () => {
  const gates = new Gates();
  const { add, subscribers, send, executions } = groupOf(
    async (_event, { viewer }) => {
      const id = viewer['id'];
      await gates.wait('go');
      return id;
    },
    people(20),
    { binding: { shares: false }, concurrency: 1 },
  );
  send({});
  await settled();
  for (const each of subscribers.slice(1)) each.leave();
  for (let id = 100; id < 110; id += 1) add({ id });
  await gates.open('go');
  await settled();
  assert.equal(await executions(), 1);
  assert.deepEqual(subscribers[0]?.said, ['0']);
});

test('a filter that throws rejects the event, and subscribers get the next one', async () => {
  const filter = filterOn(undefined, (event) => {
    if (event['n'] === 1) throw new Error('a scalar of the graph failed on purpose');
    return true;
  });
  const { said, send } = groupOf((event) => event['n'], people(2), { binding: { filter } });
  for (const n of [1, 2]) send({ n });
  await settled();
  assert.deepEqual(said(), [['2'], ['2']]);
});

test('an execution that takes too long is given up: the subscriber gets an error in its place, and its signal is aborted, whenever it is read', async () => {
  const gates = new Gates();
  const signals = new Map<string, AbortSignal>();
  const { subscribers, send, metrics } = groupOf(
    async (event, ctx) => {
      if (event['n'] === 3) return 'quick';
      if (event['n'] === 1) signals.set('early', ctx.signal);
      await gates.wait(`${Number(event['n'])}`);
      signals.set('late', ctx.signal);
      return 'late';
    },
    [{}],
    { timeoutMs: 5 },
  );
  for (const n of [1, 2, 3]) send({ n });
  const [subscriber] = subscribers;
  while ((subscriber?.results.length ?? 0) < 3) await settled();
  for (const index of [0, 1])
    assert.deepEqual(subscriber?.results[index]?.errors?.[0]?.extensions, { code: 'EXECUTE_TIMEOUT' });
  assert.equal(subscriber?.said[2], 'quick');
  assert.equal(signals.get('early')?.aborted, true);
  await gates.open('2');
  assert.equal(signals.get('late')?.aborted, true);
  assert.equal((await metrics.executionTimeouts.get()).values[0]?.value, 2);
});

const PATHS = [['a'], ['b'], ['c'], ['o', 'a'], ['o', 'b'], ['list', '0'], ['list', 'length'], ['missing']];

function randomViewer(random: Random): Json {
  const value = (): Json => random.pick<Json>([0, 1, '1', null]);
  const viewer: Record<string, Json> = {};
  for (const key of ['a', 'b', 'c']) if (random.chance(0.8)) viewer[key] = value();
  if (random.chance(0.8)) viewer['o'] = random.chance(0.2) ? null : { a: value(), b: value() };
  if (random.chance(0.8)) viewer['list'] = Array.from({ length: random.between(0, 2) }, value);
  return viewer;
}

const at = (viewer: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], viewer);

/** A resolver that reads random paths, in an order that depends on what it reads, sometimes after a wait. */
function randomResolve(seed: number, waits: boolean): Resolve {
  return (event, { viewer }) => {
    const random = Random.of(seed * 100 + Number(event['n']), 'reads');
    const heard: string[] = [];
    const look = (): void => {
      const how = random.next();
      const path = random.pick(PATHS);
      const [first = ''] = path;
      const inWhole = how < 0.8 ? first in viewer : JSON.stringify(at(viewer, [first]));
      const seen = how < 0.6 ? at(viewer, path) : inWhole;
      heard.push(typeof seen === 'object' && seen !== null ? 'object' : `${typeof seen} ${String(seen)}`);
      // The value that was read decides which path is read next.
      for (let skip = heard.join().length % 3; skip > 0; skip -= 1) random.next();
    };
    const steps = random.between(1, 4);
    if (!waits) {
      for (let step = 0; step < steps; step += 1) look();
      return heard.join();
    }
    return (async () => {
      for (let step = 0; step < steps; step += 1) {
        look();
        if (random.chance(0.5)) await Promise.resolve();
      }
      return heard.join();
    })();
  };
}

/** What is read on the way to a value counts as well: whether there is an object, or a list. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return '[';
  return typeof value === 'object' && value !== null ? '{' : (JSON.stringify(value) ?? 'nothing');
}

for (const waits of [false, true]) {
  const how = waits ? 'asynchronous' : 'synchronous';

  test(`shared results equal those of executing for each subscriber alone, ${how} resolvers`, async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = Random.of(seed, 'viewers');
      const viewers = Array.from({ length: 25 }, () => randomViewer(random));
      const [shared, alone] = [true, false].map((shares) =>
        groupOf(randomResolve(seed, waits), viewers, { binding: { shares } }),
      ) as [ReturnType<typeof groupOf>, ReturnType<typeof groupOf>];
      for (const { send } of [shared, alone]) for (let n = 0; n < 6; n += 1) send({ n });
      while ([...shared.said(), ...alone.said()].some(({ length }) => length < 6)) await settled();
      assert.deepEqual(shared.said(), alone.said(), `seed ${seed}`);
      assert.ok((await shared.executions()) <= (await alone.executions()));
    }
  });

  test(`resolvers that read fixed paths take the fewest executions possible, ${how}`, async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = Random.of(seed, 'fixed paths');
      const viewers = Array.from({ length: 30 }, () => randomViewer(random));
      const paths = PATHS.filter(() => random.chance(0.4));
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
      const readOf = (viewer: Json): string =>
        paths
          .map((path) => path.map((_, end) => kindOf(at(viewer, path.slice(0, end + 1)))).join('.'))
          .join();
      const least = new Set(viewers.map(readOf)).size;
      assert.equal(await cost({ n: 1 }), least, `seed ${seed}: ${paths.join(' ')}`);
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
  const errors = subscribers.map(({ results: [result] }) => result?.errors?.[0]?.message);
  const expected = people(6).map(({ role }) => (role === 'agent' ? 'not for agents' : undefined));
  assert.deepEqual(errors, expected);
});

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { GraphQLError, type ExecutionResult } from 'graphql';
import { upTo } from '../../../helpers/numbers.ts';
import { nextGraph, operation, settled, setUp } from '../parts.ts';
import { INTERVAL_MS, throttled } from './listener.ts';

interface Result {
  readonly data?: { readonly n: number; readonly key: string } | null;
  readonly errors?: readonly { readonly extensions: { readonly skipped: number } }[];
  readonly extensions?: { readonly gap?: { readonly skipped: number } };
}

/** A throttled field whose resolvers end when the test says so. */
function start(t: TestContext, maxWaiting: number) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const open: (() => void)[] = [];
  const parts = setUp({
    binding: { delivery: throttled },
    maxWaiting,
    concurrency: 1_000,
    execute: (event: never) =>
      new Promise<ExecutionResult>((resolve) => open.push(() => resolve({ data: event }))),
  });
  const { subscriber } = parts.join(operation(), { id: 'a' }, true);
  let n = 0;
  const results = (): Result[] => subscriber.results as Result[];
  return {
    ...parts,
    subscriber,
    publish: (key: string): void => parts.bus.carry('bids:id=a', n, { n: (n += 1), key }),
    async pass(): Promise<void> {
      t.mock.timers.tick(INTERVAL_MS);
      await settled();
    },
    /** Has all that is open resolved, and what begins then, for some intervals. */
    async finish(): Promise<void> {
      for (let interval = 0; interval < 50; interval += 1) {
        t.mock.timers.tick(INTERVAL_MS);
        for (const resolve of open.splice(0)) resolve();
        await settled();
      }
    },
    keys: (): string[] => results().flatMap(({ data }) => data?.key ?? []),
    numbers: (): number[] => results().flatMap(({ data }) => data?.n ?? []),
    skipped: (): number =>
      results()
        .flatMap(({ errors = [] }) => errors)
        .reduce((sum, { extensions }) => sum + extensions.skipped, 0),
    leftOut: (): number =>
      results().reduce((sum, { extensions }) => sum + (extensions?.gap?.skipped ?? 0), 0),
  };
}

test('what a throttle holds waits for executions that have no room, and is superseded meanwhile', async (t) => {
  const { publish, pass, finish, keys, numbers, skipped } = start(t, 10);
  for (const n of upTo(19)) publish(`k${n}`);
  await pass();
  for (const n of upTo(9)) publish(`k${n}`);
  await finish();
  assert.equal(skipped(), 0);
  assert.equal(new Set(keys()).size, 19);
  assert.deepEqual(numbers().slice(-9), upTo(28, 20));
});

test('of more keys than may be executed and held the oldest are skipped, and each is told', async (t) => {
  const { publish, pass, finish, keys, skipped } = start(t, 10);
  for (const n of upTo(25)) publish(`k${n}`);
  await pass();
  await finish();
  assert.equal(keys().length + skipped(), 25);
  assert.ok(keys().length >= 19, keys().join());
  assert.equal(keys().at(-1), 'k25');
});

test('an event that is skipped counts with those for which it stands', async (t) => {
  const { publish, pass, finish, numbers, skipped, leftOut } = start(t, 2);
  let sent = 0;
  for (const interval of upTo(6)) {
    for (const key of ['k', 'k', `only${interval}`, 'k', `also${interval}`]) {
      publish(key);
      sent += 1;
    }
    await pass();
  }
  await finish();
  assert.ok(skipped() > 0);
  assert.equal(numbers().length + leftOut() + skipped(), sent);
});

test('where the graph is replaced by one without the field, what was held is delivered before the end', async (t) => {
  const { hub, publish, finish, numbers, subscriber } = start(t, 10);
  for (const n of upTo(8)) publish(`k${n}`);
  const next = nextGraph(() => assert.fail('nothing is executed'));
  const { isDone } = hub.replaceGraph(next, () => new GraphQLError('it is gone'));
  assert.equal(subscriber.ended, undefined);
  assert.equal(isDone(), false);
  await finish();
  assert.deepEqual(numbers(), upTo(8));
  const errors = subscriber.ended as readonly GraphQLError[] | undefined;
  assert.deepEqual(
    errors?.map(({ message }) => message),
    ['it is gone'],
  );
  assert.equal(isDone(), true);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVENT, executorWith, newExecutor, prepared, runs, RUNS } from './small-executor.ts';
import { readableLog } from '../ingest/parts.ts';

/** An event that throws when its title is read. */
function hostile(): object {
  return {
    id: 'x',
    get title(): never {
      throw new Error('getter');
    },
  };
}

describe('execute', () => {
  it('creates no promise if no resolver returns one, interpreted or compiled, and compiles after ten runs', () => {
    const executor = newExecutor();
    const operation = prepared(executor, 'subscription { event { id title } }');
    for (let run = 1; run <= RUNS; run++) {
      const result = runs(executor, operation, 1);
      assert.equal(JSON.stringify(result), '{"data":{"event":{"id":"1","title":"Lamp"}}}');
      assert.equal(executor.counts.compiled, run <= 10 ? 0 : 1);
    }
    assert.deepEqual(executor.counts, { compiled: 1, refused: 0, fallback: 0 });
  });

  it('compiles a thousand fields at once and a thousand a second, and runs what is beyond on graphql-js', () => {
    let now = 5_000;
    const executor = newExecutor({ now: () => now });
    const aliases = Array.from({ length: 100 }, (_, index) => `a${index}: id`).join(' ');
    const operations = Array.from({ length: 40 }, (_, index) =>
      prepared(executor, `subscription S${index} { event { ${aliases} } }`),
    );
    for (const compiled of [10, 20]) {
      for (const operation of operations) runs(executor, operation, 11);
      assert.equal(executor.counts.compiled, compiled);
      now += 1_000;
    }
  });

  it('falls back to graphql-js when compiled code has an error, and uses compiled code no more if that is frequent', () => {
    let fails = false;
    let calls = 0;
    const title = () => {
      calls++;
      if (fails) throw new Error('no title');
      return 'a title';
    };
    const executor = executorWith({ Event: { title } }, { maskErrors: false });
    const operation = prepared(executor, 'subscription { event { id title } }');
    const run = (): string => JSON.stringify(runs(executor, operation, 1));
    runs(executor, operation, RUNS);
    fails = true;
    const extensions = { code: 'INTERNAL_SERVER_ERROR' };
    const errors = [{ message: 'no title', path: ['event', 'title'], extensions }];
    const expected = JSON.stringify({ errors, data: { event: { id: '1', title: null } } });
    for (let index = 0; index < 30; index++) assert.equal(run(), expected);
    assert.equal(executor.counts.fallback, 11);
    calls = 0;
    run();
    assert.equal(calls, 1);
  });

  it('never runs a mutation twice', () => {
    let count = 0;
    const executor = executorWith({ Mutation: { count: () => (count++, null) } });
    runs(executor, prepared(executor, 'mutation { count }'), RUNS);
    assert.equal(count, RUNS);
    assert.equal(executor.counts.compiled, 0);
  });

  it('runs the fields of a mutation one after the other', async () => {
    const steps: string[] = [];
    let number = 0;
    const count = async () => {
      const mine = ++number;
      steps.push(`begin ${mine}`);
      await Promise.resolve();
      steps.push(`end ${mine}`);
      return mine;
    };
    const executor = executorWith({ Mutation: { count } });
    const result = await executor.execute(prepared(executor, 'mutation { a: count b: count }'), {}, {}, {});
    assert.equal(JSON.stringify(result), '{"data":{"a":1,"b":2}}');
    assert.deepEqual(steps, ['begin 1', 'end 1', 'begin 2', 'end 2']);
  });

  it('compiles an operation again, after as many runs, when its code was evicted', () => {
    const executor = newExecutor({ maxCompiledFields: 5 });
    const first = prepared(executor, 'subscription A { event { id title } }');
    const second = prepared(executor, 'subscription B { event { id title } }');
    runs(executor, first, RUNS);
    runs(executor, second, RUNS);
    assert.equal(executor.counts.compiled, 2);
    runs(executor, first, 10);
    assert.equal(executor.counts.compiled, 2);
    runs(executor, first, 1);
    assert.equal(executor.counts.compiled, 3);
  });

  it('compiles an operation once if its code is too large to be kept', () => {
    const executor = newExecutor({ maxCompiledFields: 2 });
    const operation = prepared(executor, 'subscription A { event { id title } }');
    runs(executor, operation, RUNS);
    assert.equal(executor.counts.compiled, 1);
  });

  it('compiles at most eight outcomes of the conditions of one operation', () => {
    const executor = newExecutor();
    const query = `subscription ($a: Boolean!, $b: Boolean!, $c: Boolean!, $d: Boolean!) { event {
      id @skip(if: $a) title @skip(if: $b) t: title @skip(if: $c) u: title @skip(if: $d) } }`;
    const operation = prepared(executor, query);
    for (let outcome = 0; outcome < 16; outcome++) {
      const bit = (mask: number): boolean => (outcome & mask) !== 0;
      const variables = { a: bit(1), b: bit(2), c: bit(4), d: bit(8) };
      for (let run = 0; run < RUNS; run++) {
        const result = executor.execute(operation, EVENT, {}, variables);
        assert.ok(!(result instanceof Promise));
        const keys = Object.keys((result.data?.['event'] ?? {}) as object);
        assert.equal(keys.length, 4 - [1, 2, 4, 8].filter(bit).length);
      }
    }
    assert.equal(executor.counts.compiled, 8);
  });

  it('logs once, and counts, an operation that the compiler refuses', () => {
    const { log, lines } = readableLog('debug');
    const executor = newExecutor({ log });
    runs(executor, prepared(executor, 'subscription Odd { event { constructor: id } }'), 2 * RUNS);
    assert.equal(executor.counts.refused, 1);
    assert.equal(lines.length, 1);
    const { operation, reason } = lines[0] ?? {};
    assert.deepEqual([operation, reason], ['Odd', 'a field is called constructor']);
  });

  it('causes no unhandled rejection and no result that stays pending, for any value that a resolver returns', async (t) => {
    const turns = [() => Promise.reject(new Error('early')), async () => hostile(), hostile];
    let turn = 0;
    const executor = executorWith({ Event: { event: () => turns[turn++ % turns.length]?.() } });
    const query = 'subscription { event { a: event { title } b: event { title } c: event { title } id } }';
    const operation = prepared(executor, query);
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    t.after(() => process.off('unhandledRejection', note));
    const expected = await executor.execute(operation, EVENT, {}, {});
    for (let run = 0; run < RUNS; run++) {
      const result = await executor.execute(operation, EVENT, {}, {});
      assert.equal(JSON.stringify(result), JSON.stringify(expected));
    }
    await new Promise(setImmediate);
    assert.deepEqual(unhandled, []);
    assert.ok(executor.counts.fallback > 0);
  });
});

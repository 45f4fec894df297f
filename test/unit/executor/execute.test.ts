import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildSchema, GraphQLObjectType, type GraphQLSchema } from 'graphql';
import type { Operation } from '../../../src/executor/operation.ts';
import { createLog } from '../../../src/log.ts';
import { EVENT, executorFor, newExecutor, prepared, SDL } from './small-executor.ts';

/** More often than it takes to compile. */
const RUNS = 14;

function resolving(schema: GraphQLSchema, type: string, field: string, resolve: () => unknown): void {
  const owner = schema.getType(type);
  assert.ok(owner instanceof GraphQLObjectType);
  const found = owner.getFields()[field];
  assert.ok(found);
  found.resolve = resolve;
}

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
  it('creates no promise if no resolver returns one, interpreted or compiled', () => {
    const executor = newExecutor();
    const operation = prepared(executor, 'subscription { event { id title } }');
    for (let run = 0; run < RUNS; run++) {
      const result = executor.execute(operation, EVENT, {}, {});
      assert.ok(!(result instanceof Promise));
      assert.equal(JSON.stringify(result), '{"data":{"event":{"id":"1","title":"Lamp"}}}');
    }
    assert.deepEqual(executor.counts, { compiled: 1, refused: 0, fallback: 0 });
  });

  it('compiles an operation only after it has run often enough to be worth it', () => {
    const executor = newExecutor();
    const operation = prepared(executor, 'subscription { event { id } }');
    for (let run = 0; run < 10; run++) void executor.execute(operation, EVENT, {}, {});
    assert.equal(executor.counts.compiled, 0);
    void executor.execute(operation, EVENT, {}, {});
    assert.equal(executor.counts.compiled, 1);
  });

  it('compiles a thousand fields at once and a thousand a second, and runs what is beyond on graphql-js', () => {
    let now = 5_000;
    const executor = newExecutor({ now: () => now });
    const aliases = Array.from({ length: 100 }, (_, index) => `a${index}: id`).join(' ');
    const operations = Array.from({ length: 40 }, (_, index) =>
      prepared(executor, `subscription S${index} { event { ${aliases} } }`),
    );
    const runAll = (): void => {
      for (const operation of operations) {
        for (let run = 0; run < 11; run++) void executor.execute(operation, EVENT, {}, {});
      }
    };
    runAll();
    assert.equal(executor.counts.compiled, 10);
    now += 1_000;
    runAll();
    assert.equal(executor.counts.compiled, 20);
  });

  it('falls back to graphql-js when compiled code has an error, and uses compiled code no more if that is frequent', () => {
    const schema = buildSchema(SDL);
    let fails = false;
    let calls = 0;
    resolving(schema, 'Event', 'title', () => {
      calls++;
      if (fails) throw new Error('no title');
      return 'a title';
    });
    const executor = executorFor(schema, { maskErrors: false });
    const operation = prepared(executor, 'subscription { event { id title } }');
    const run = (): string => JSON.stringify(executor.execute(operation, EVENT, {}, {}));
    for (let index = 0; index < RUNS; index++) run();
    fails = true;
    const expected =
      '{"errors":[{"message":"no title","path":["event","title"],"extensions":{"code":"INTERNAL_SERVER_ERROR"}}],"data":{"event":{"id":"1","title":null}}}';
    for (let index = 0; index < 30; index++) assert.equal(run(), expected);
    assert.equal(executor.counts.fallback, 11);
    calls = 0;
    run();
    assert.equal(calls, 1);
  });

  it('never runs a mutation twice', () => {
    const schema = buildSchema(SDL);
    let count = 0;
    resolving(schema, 'Mutation', 'count', () => {
      count++;
      return null;
    });
    const executor = executorFor(schema);
    const operation = prepared(executor, 'mutation { count }');
    for (let run = 0; run < RUNS; run++) void executor.execute(operation, {}, {}, {});
    assert.equal(count, RUNS);
    assert.equal(executor.counts.compiled, 0);
  });

  it('runs the fields of a mutation one after the other', async () => {
    const schema = buildSchema(SDL);
    const steps: string[] = [];
    let number = 0;
    resolving(schema, 'Mutation', 'count', async () => {
      const mine = ++number;
      steps.push(`begin ${mine}`);
      await Promise.resolve();
      steps.push(`end ${mine}`);
      return mine;
    });
    const executor = executorFor(schema);
    const result = await executor.execute(prepared(executor, 'mutation { a: count b: count }'), {}, {}, {});
    assert.equal(JSON.stringify(result), '{"data":{"a":1,"b":2}}');
    assert.deepEqual(steps, ['begin 1', 'end 1', 'begin 2', 'end 2']);
  });

  it('compiles an operation again, after as many runs, when its code was evicted', () => {
    const executor = newExecutor({ maxCompiledFields: 5 });
    const first = prepared(executor, 'subscription A { event { id title } }');
    const second = prepared(executor, 'subscription B { event { id title } }');
    const runs = (operation: Operation, count: number): void => {
      for (let run = 0; run < count; run++) void executor.execute(operation, EVENT, {}, {});
    };
    runs(first, RUNS);
    runs(second, RUNS);
    assert.equal(executor.counts.compiled, 2);
    runs(first, 10);
    assert.equal(executor.counts.compiled, 2);
    runs(first, 1);
    assert.equal(executor.counts.compiled, 3);
  });

  it('compiles an operation once if its code is too large to be kept', () => {
    const executor = newExecutor({ maxCompiledFields: 2 });
    const operation = prepared(executor, 'subscription A { event { id title } }');
    for (let run = 0; run < RUNS; run++) void executor.execute(operation, EVENT, {}, {});
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
    const lines: string[] = [];
    const log = createLog('debug', { write: (line) => void lines.push(line) });
    const executor = newExecutor({ log });
    const operation = prepared(executor, 'subscription Odd { event { constructor: id } }');
    for (let run = 0; run < 2 * RUNS; run++) void executor.execute(operation, EVENT, {}, {});
    assert.equal(executor.counts.refused, 1);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"operation":"Odd","reason":"a field is called constructor"/);
  });

  it('causes no unhandled rejection and no result that stays pending, for any value that a resolver returns', async (t) => {
    const schema = buildSchema(SDL);
    const turns = [() => Promise.reject(new Error('early')), async () => hostile(), hostile];
    let turn = 0;
    resolving(schema, 'Event', 'event', () => turns[turn++ % turns.length]?.());
    const executor = executorFor(schema);
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

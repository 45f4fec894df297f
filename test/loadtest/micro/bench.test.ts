import assert from 'node:assert/strict';
import test from 'node:test';
import { measureCase, type Case, type Variant } from '../../../loadtest/micro/bench.ts';

const counting = (name: string, variant: Partial<Variant> = {}): Variant => ({
  name,
  sample: () => ['same'],
  ready: (operations) => () => operations,
  ...variant,
});

function caseOf(...variants: Variant[]): Case & { closed: number } {
  const one = {
    name: 'a case',
    unit: 'operation',
    closed: 0,
    open: () => ({ variants, close: () => void (one.closed += 1) }),
  };
  return one;
}

const half: Variant['ready'] = (operations) => () => operations / 2;

const turn = (name: string) => [`${name} begins`, `${name} is done`];

const ONCE = { rounds: 1, turnMs: 0 };

test('variants that give different results are not measured, and the case is closed', async () => {
  const ready = test.mock.fn(counting('other').ready);
  const one = caseOf(counting('first'), counting('other', { sample: () => ['another'], ready }));
  await assert.rejects(measureCase(one, ONCE), /first and other give different results in a case/);
  assert.equal(ready.mock.callCount(), 0);
  assert.equal(one.closed, 1);
});

test('a variant that delivers less than the first one is not measured', async () => {
  const one = caseOf(counting('first'), counting('half', { ready: half }));
  await assert.rejects(measureCase(one, ONCE), /first and half give different results in a case/);
});

test('a variant that stops doing its work while it is timed fails', async () => {
  let runs = 0;
  const lazy: Variant['ready'] = (operations) => () => (++runs === 1 ? operations : 0);
  const one = caseOf(counting('first'), counting('lazy', { ready: lazy }));
  await assert.rejects(measureCase(one, ONCE), /lazy does not do all of its 1 operations/);
});

test('a case whose variants deliver nothing fails', async () => {
  await assert.rejects(
    measureCase(caseOf(counting('none', { ready: () => () => 0 })), ONCE),
    /Nothing comes of none/,
  );
});

test('the clock runs until everything that was sent has arrived, and variants take turns', async () => {
  const events: string[] = [];
  const late = (name: string) =>
    counting(name, {
      ready: (operations) => async () => {
        events.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        events.push(`${name} is done`);
        return operations;
      },
    });
  const measurements = await measureCase(caseOf(late('a'), late('b')), { rounds: 2, turnMs: 0 });
  // Each once to see what comes of it, two rounds, and what they allocate.
  assert.deepEqual(events, ['a', 'b', 'a', 'b', 'b', 'a', 'a', 'b'].flatMap(turn));
  assert.deepEqual(
    measurements.map(({ name }) => name),
    ['a', 'b'],
  );
});

import assert from 'node:assert/strict';
import { GraphQLError } from 'graphql';
import test from 'node:test';
import type { EventTracer, HubStep } from '../../../src/events/trace.ts';
import { byRole, FakeSubscriber, operation, settled, setUp } from './parts.ts';

const asked = operation();

/** A hub that has each step noted as text, when it is told. */
function setUpNoting(options: Parameters<typeof setUp>[0] = {}) {
  const steps: string[] = [];
  const listener: EventTracer = (step) => void steps.push(text(step as HubStep));
  return { steps, ...setUp({ ...options, trace: { listener } }) };
}

function text(step: HubStep): string {
  const { o } = step.message;
  switch (step.step) {
    case 'dispatched':
      return `${o} dispatched to ${step.passing.size} of ${step.subscribers.size}`;
    case 'executed':
      return `${o} executed ${step.errors?.map(({ message }) => message).join() ?? ''}`.trimEnd();
    case 'settled':
      return `${o} settled for ${step.subscribers.size} by ${step.reads.join() || 'no read'}`;
    case 'split':
      return `${o} split at ${step.path}`;
    case 'delivered':
      return `${o} delivered to ${[...step.subscribers].length}`;
    case 'superseded':
      return `${o} superseded by ${step.by.o} for ${step.subscribers.size}`;
    default:
      return `${o} ${step.step}`;
  }
}

/** What is told of an event that is executed once, for so many subscribers. */
const once = (o: number, count: number): string[] => [
  `${o} dispatched to ${count} of ${count}`,
  `${o} executed`,
  `${o} settled for ${count} by no read`,
  `${o} delivered to ${count}`,
  `${o} written`,
  `${o} ended`,
];

test('for each group it is told who gets an event, by how many executions, and that it has ended', async () => {
  const { steps, bus, join } = setUpNoting();
  join(asked, { id: 'a' });
  join(asked, { id: 'a' });
  join(asked, { id: ['a', 'b'] });
  bus.carry('bids:id=a', 0, {});
  assert.deepEqual(steps, [...once(0, 2), ...once(0, 1)]);
  steps.length = 0;
  bus.carry('bids:id=a', 0, {});
  assert.deepEqual(steps, ['0 duplicate']);
});

test('subscribers that a filter leaves out are told apart, and viewers for whom it is executed separately', () => {
  const { steps, bus, hub } = setUpNoting({
    binding: { filter: byRole },
    execute: (_event, _variables, { viewer }) => ({ data: { name: (viewer as { name: string }).name } }),
  });
  for (const [name, role] of Object.entries({ ann: 'buyer', bob: 'seller', cid: 'buyer' }))
    hub.join(asked, { id: 'a' }, new FakeSubscriber({ role, name }));
  bus.carry('bids:id=a', 0, { roles: ['buyer'] });
  bus.carry('bids:id=a', 1, { roles: ['guest'] });
  assert.deepEqual(steps, [
    '0 dispatched to 2 of 3',
    '0 executed',
    '0 split at name',
    '0 executed',
    '0 settled for 1 by name',
    '0 delivered to 1',
    '0 written',
    '0 settled for 1 by name',
    '0 delivered to 1',
    '0 written',
    '0 ended',
    '1 dispatched to 0 of 3',
    '1 ended',
  ]);
});

test('errors are told as clients see them, and the end comes with the last result', async () => {
  const { steps, bus, join } = setUpNoting({
    execute: () => Promise.resolve({ data: null, errors: [new GraphQLError('refused')] }),
  });
  join(asked, { id: 'a' });
  bus.carry('bids:id=a', 0, {});
  assert.deepEqual(steps, ['0 dispatched to 1 of 1']);
  await settled();
  assert.deepEqual(steps.slice(1), [
    '0 executed refused',
    '0 settled for 1 by no read',
    '0 delivered to 1',
    '0 written',
    '0 ended',
  ]);
});

test('what a throttle holds is told as held, and when it is dispatched or superseded', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { steps, bus, join } = setUpNoting({
    binding: { delivery: { keyOf: () => '', throttleMs: 100, onSlow: 'DISCONNECT' } },
  });
  join(asked, { id: 'a' });
  for (const o of [0, 1, 2]) bus.carry('bids:id=a', o, {});
  t.mock.timers.tick(100);
  assert.deepEqual(steps, [...once(0, 1), '1 held', '2 held', '1 superseded by 2 for 1', ...once(2, 1)]);
});

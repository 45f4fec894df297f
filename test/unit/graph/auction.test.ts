import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import {
  execute,
  getNamedType,
  isObjectType,
  parse,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';
import { simulate, type SimulatedMessage } from '../../../examples/auction/simulator.ts';
import { checkGraph } from '../../../src/graph/check.ts';
import { snakeCaseOf } from '../../../src/graph/event-type.ts';
import { loadGraph } from '../../../src/graph/load-graph.ts';

/** In the sources, seen from the compiled test. */
const FOLDER = path.join(import.meta.dirname, '../../../../examples/auction');

/** Numbers from 0 up to 1 that are the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function simulated(count: number, seed: number): SimulatedMessage[] {
  let time = Date.UTC(2026, 0, 1);
  const events = simulate(randomFrom(seed), () => (time += 1_000));
  return Array.from({ length: count }, () => events.next().value);
}

/** What ingest makes of a message's keys. */
function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [snakeCaseOf(key), snakeCased(inner)]),
  );
}

/** Every field that there is below a type. */
function selectionOf(type: GraphQLOutputType): string {
  const named = getNamedType(type);
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields()).map((field) => field.name + selectionOf(field.type));
  return `{ ${fields.join(' ')} }`;
}

function resultOf(schema: GraphQLSchema, field: string, event: unknown) {
  const type = schema.getSubscriptionType()?.getFields()[field]?.type;
  assert.ok(type);
  const args = field === 'property_update' ? '' : '(auction_id: "auction-1")';
  const document = parse(`subscription { ${field}${args} ${selectionOf(type)} }`);
  return execute({ schema, document, rootValue: event });
}

describe('the bundled auction', () => {
  it('has no faults, but a warning for property_update, which may show all properties', async () => {
    const found = await checkGraph(FOLDER);
    assert.deepEqual(
      found.map(({ severity, message }) => `${severity}: ${message}`),
      [
        'warning: key argument "property_id" of Subscription.property_update may be null: leaving it out yields everyone\'s events',
      ],
    );
  });

  it('is filled by the simulated events in every field, without errors', async () => {
    const { schema, bindings } = await loadGraph(FOLDER);
    const seen = new Set<string>();
    for (const { topic, key, value } of simulated(300, 7)) {
      const binding = [...bindings.values()].find((candidate) => candidate.topic === topic);
      assert.ok(binding, topic);
      seen.add(binding.field);
      const event = snakeCased(value) as Record<string, unknown>;
      assert.equal(event[binding.key ?? ''], key);
      const result = resultOf(schema, binding.field, event);
      assert.ok(!('then' in result));
      assert.equal(result.errors, undefined);
    }
    assert.deepEqual([...seen].toSorted(), ['auction_status', 'bid_placed', 'property_update']);
  });

  it('writes prices and addresses as people do', async () => {
    const { schema } = await loadGraph(FOLDER);
    const update = simulated(300, 7).find(
      ({ topic, key }) => topic === 'property-updates' && key === 'property-2',
    );
    const result = JSON.stringify(resultOf(schema, 'property_update', snakeCased(update?.value)));
    assert.match(result, /"formatted":"Große Elbstraße 73, Hinterhaus, 3. Stock, 22767 Hamburg, DE"/);
    assert.match(result, /"formatted":"€9\d\d,\d{3}"/);
  });

  it('has bids that rise, and auctions that open, close and end before the next one', () => {
    const highest = new Map<string, number>();
    const states = new Map<string, string[]>();
    for (const { topic, key, value } of simulated(2_000, 1)) {
      if (topic === 'bids') {
        const { amount } = value as { amount: { value: number } };
        assert.ok(amount.value > (highest.get(key) ?? 0));
        highest.set(key, amount.value);
        assert.ok(
          ['OPEN', 'CLOSING'].includes(states.get(key)?.at(-1) ?? ''),
          'bids come while they are taken',
        );
      } else if (topic === 'auction-status') {
        states.set(key, [...(states.get(key) ?? []), (value as { state: string }).state]);
      }
    }
    const ended = [...states.values()].filter((list) => ['SOLD', 'PASSED_IN'].includes(list.at(-1) ?? ''));
    assert.ok(ended.length > 10);
    assert.ok(ended.some((list) => list.includes('SOLD')));
    for (const list of ended) assert.match(list.join(), /^OPEN(,CLOSING,OPEN)*,CLOSING,(SOLD|PASSED_IN)$/);
  });

  it('is the same for the same random numbers, and goes on for any', () => {
    assert.deepEqual(simulated(50, 3), simulated(50, 3));
    assert.notDeepEqual(simulated(50, 3), simulated(50, 4));
    for (const constant of [0, 0.5, 0.9, 0.999]) {
      const events = simulate(
        () => constant,
        () => 0,
      );
      for (let i = 0; i < 50; i++) assert.equal(events.next().done, false);
    }
  });
});

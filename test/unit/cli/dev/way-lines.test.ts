import assert from 'node:assert/strict';
import test from 'node:test';
import { laterLines, wayLines } from '../../../../src/cli/dev/way-lines.ts';
import type { GroupWay, Way } from '../../../../src/cli/dev/way.ts';
import { DecodeError } from '../../../../src/events/decode-error.ts';

const BINDINGS = [
  { field: 'bid_placed', key: 'auction_id', keyRequired: true },
  { field: 'any_bid', key: 'auction_id' },
  { field: 'all_bids', key: undefined },
];
const KAFKA = { origin: undefined, isShared: false };

const way = (more: Partial<Way> = {}): Way => ({
  place: { topic: 'bids', partition: 2, offset: 17 },
  kafkaKey: null,
  routed: undefined,
  passedOver: undefined,
  undecodable: undefined,
  duplicateOn: undefined,
  groups: new Map(),
  ...more,
});

const routed = (value: unknown, channels = ['bids']): Partial<Way> => ({
  routed: { keys: new Map([['auction_id', value as string]]), channels },
});

const groupWay = (field: string, more: Partial<GroupWay> = {}, name?: string, variables = {}): GroupWay => ({
  group: { field, operation: { name, query: '' }, variables, channels: [] },
  subscribers: 3,
  passing: 3,
  executions: 1,
  errors: [],
  isHeld: false,
  isReplay: false,
  open: 0,
  ...more,
});

const groups = (...all: GroupWay[]): Partial<Way> => ({
  groups: new Map(all.map((one) => [one.group, one])),
});

const lines = (more: Partial<Way>, where: Parameters<typeof wayLines>[2] = KAFKA): string[] =>
  wayLines(way(more), BINDINGS, where).map(({ text }) => text);

test('an event has its place, Kafka key, routing fields and channels', () => {
  const [first] = lines({ ...routed(7, ['bids', 'bids:auction_id=7']), kafkaKey: 'k' });
  assert.equal(first, 'bids 2/17  Kafka key: "k"  auction_id: 7  →  bids, bids:auction_id=7');
  const [byHand] = lines(routed(7), { origin: 'published by hand', isShared: false });
  assert.equal(byHand, 'bids #17 (published by hand)  auction_id: 7  →  bids');
});

test('each field of the topic that reaches no client says how it would have been asked for', () => {
  assert.deepEqual(lines(routed(7)).slice(1), [
    '  no client is subscribed to bid_placed(auction_id: 7)',
    '  no client is subscribed to any_bid(auction_id: 7), or to any_bid without auction_id',
    '  no client is subscribed to all_bids',
  ]);
  assert.equal(
    lines(routed(['a', 'b', 'c', 'd', 'e']))[1],
    '  no client is subscribed to bid_placed(auction_id: "a" or "b" or "c" and 2 more)',
  );
  const shared = lines(routed(7), { origin: undefined, isShared: true });
  assert.equal(shared.at(-1), '  no client of this gateway is subscribed to all_bids');
});

test('a routing field that is missing or null is told for the fields that need it', () => {
  assert.deepEqual(lines(routed(undefined)).slice(1, 3), [
    '  routing field auction_id missing, so not for bid_placed(auction_id: …)',
    '  routing field auction_id missing, so not for any_bid(auction_id: …); no client is subscribed to any_bid without it',
  ]);
  assert.equal(lines(routed(null))[1], '  auction_id is null, so not for bid_placed(auction_id: …)');
});

test('a nested key is told by its path, and asked for by its argument', () => {
  const key = 'seller.house.id';
  const bindings = [{ field: 'bid_placed', key, argument: 'house_id' }];
  const told = (value?: number): string[] => {
    const seen = way({ routed: { keys: new Map([[key, value]]), channels: ['bids'] } });
    return wayLines(seen, bindings, KAFKA).map(({ text }) => text);
  };
  assert.deepEqual(told(7), [
    'bids 2/17  seller.house.id: 7  →  bids',
    '  no client is subscribed to bid_placed(house_id: 7), or to bid_placed without house_id',
  ]);
  assert.match(
    told()[1] ?? '',
    /^  routing field seller.house.id missing, so not for bid_placed\(house_id: …\)/,
  );
});

test('a group says how many got the event by how many executions, and who was left out', () => {
  const all = groups(
    groupWay('bid_placed', { passing: 2, executions: 2, errors: ['bid_placed.total: no'] }, 'Watch', {
      id: '7',
    }),
    groupWay('any_bid', { passing: 0, executions: 0 }),
    groupWay('all_bids', { passing: 0, executions: 0, isHeld: true, subscribers: 1 }),
  );
  assert.deepEqual(lines({ ...routed(7), ...all }).slice(1), [
    '  bid_placed: 2 subscribers of Watch {"id":"7"}, 2 executions, 1 filtered out',
    '    error at bid_placed.total: no',
    '  any_bid: 3 subscribers: filtered out',
    '  all_bids: 1 subscriber: held for throttleMs',
  ]);
});

test('of many groups the first are listed', () => {
  const all = groups(...Array.from({ length: 14 }, () => groupWay('bid_placed')));
  assert.equal(lines(all).at(-1), '  and 4 more groups with 12 subscribers');
});

test('a dead letter and a record that is no event say why', () => {
  const undecodable = new DecodeError('not_json', 'expected JSON, got something else');
  assert.deepEqual(lines({ undecodable }), [
    'bids 2/17',
    '  dead letter, not_json: expected JSON, got something else',
  ]);
  assert.deepEqual(lines({ passedOver: 'no_field' }), ['bids 2/17', '  no field has this topic']);
});

test('what comes later names the event again', () => {
  const later = laterLines(way(), groupWay('all_bids', { isReplay: true }), KAFKA);
  const texts = later.map(({ text }) => text);
  assert.deepEqual(texts, ['bids 2/17, later', '  all_bids: 3 subscribers, 1 execution, replayed']);
});

test('what an event holds can not control a terminal, and a long value is cut', () => {
  const text = lines({
    ...routed('\u001b[31m\u009b', ['bids:auction_id=\u001b[2J']),
    ...groups(groupWay('all_bids', { errors: ['a: \u001b[2J\nnext'] }, undefined, { id: '\u009b' })),
    kafkaKey: '\u001b',
  }).join('');
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(text, /[\u0000-\u001f\u007f-\u009f]/);
  const long = lines({ ...routed('x'.repeat(10_000), ['y'.repeat(10_000)]) });
  assert.ok(long.every(({ length }) => length < 500));
});

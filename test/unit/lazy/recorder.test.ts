import assert from 'node:assert/strict';
import test from 'node:test';
import { frozenJson } from '../../../src/lazy/plain-json.ts';
import { ReadSet, type Json } from '../../../src/lazy/reads.ts';
import { recording } from '../../../src/lazy/recorder.ts';

interface Viewer {
  readonly id: number;
  readonly name?: string | null;
  readonly roles: readonly string[];
  readonly org: { readonly id: number; readonly plan: { readonly name: string } };
  readonly [key: string]: unknown;
}

const ANN: Viewer = { id: 1, name: null, roles: ['bidder', 'agent'], org: { id: 7, plan: { name: 'gold' } } };

function read(look: (viewer: Viewer) => unknown, viewer: object = ANN): ReadSet {
  const reads = new ReadSet();
  look(recording(frozenJson(viewer, 'viewer') as never, reads) as Viewer);
  return reads;
}

const agree = (reads: ReadSet, a: object, b: object): boolean =>
  reads.valuesIn(a as Json) === reads.valuesIn(b as Json);

test('all viewers agree on an execution that reads nothing', () => {
  assert.equal(read(() => 1).size, 0);
});

const LOOKS: readonly ((viewer: Viewer) => unknown)[] = [
  (v) => [v.id, v.name, v['nothing'], v.org.plan.name, v.roles.length, v.roles.at(-1)],
  (v) => [v.org === v.org, Array.isArray(v.roles), v.roles.includes('agent')],
  (v) => [...v.roles, v.roles.map((role) => role.toUpperCase()), v.roles.concat(['x'])],
  (v) => [Object.keys(v), Object.entries(v.roles), { ...v.org.plan }, JSON.stringify(v), String(v)],
  (v) => ['id' in v, 'nothing' in v, 'toString' in v, Object.hasOwn(v, 'id'), Object.hasOwn(v, 'nothing')],
  ({ id, ...rest }) => [id, Object.keys(rest)],
];

test('a recorder returns the values of the viewer', () => {
  for (const look of LOOKS) read((viewer) => assert.deepEqual(look(viewer), look(ANN)));
});

const ORG = { id: 7, plan: { name: 'gold' } };

/** What is read of Ann, viewers that agree with her on it, and viewers that do not. */
const CASES: Readonly<Record<string, [(viewer: Viewer) => unknown, alike: object[], different: object[]]>> = {
  'a value': [(v) => v.id, [{ id: 1 }, { id: 1, x: 2 }], [{ id: 2 }, { id: '1' }, {}, { id: null }]],
  'null, which is not absent': [(v) => v.name, [{ name: null }], [{}, { name: 'null' }, { name: 'Ann' }]],
  absence: [(v) => v['nothing'], [{}, { id: 2 }], [{ nothing: null }, { nothing: 1 }]],
  'absence deep down': [(v) => (v['a'] as undefined | { b: 1 })?.b, [{}, { b: 1 }], [{ a: {} }, { a: null }]],
  presence: [(v) => 'id' in v, [{ id: 2 }, { id: null }], [{}]],
  'a nested value': [
    (v) => v.org.id,
    [{ org: { id: 7 } }],
    [...[{ id: 8 }, null, [7]].map((org) => ({ org })), {}],
  ],
  'an object as a condition': [
    (v) => !!v.org,
    [{ org: {} }, { org: { id: 9 } }],
    [null, [], 1].map((org) => ({ org })),
  ],
  'the length of a list': [
    (v) => v.roles.length,
    [{ roles: ['a', 'b'] }],
    [{ roles: ['a'] }, { roles: {} }, {}],
  ],
  'whether a list includes': [
    (v) => v.roles.includes('bidder'),
    [{ roles: ['bidder', 'other'] }],
    [{ roles: ['agent', 'bidder'] }, { roles: ['bidder'] }],
  ],
  'a spread': [
    (v) => ({ ...v.org }),
    [{ org: ORG }],
    [{ id: 7 }, { ...ORG, more: 1 }, { id: 7, plan: { name: 'red' } }].map((org) => ({ org })),
  ],
  'the keys': [
    (v) => Object.keys(v.org.plan),
    [{ org: { plan: { name: 'gold' } } }],
    [{ org: { plan: {} } }],
  ],
  'JSON text': [
    (v) => JSON.stringify(v),
    [ANN],
    [{ id: 2 }, { more: 1 }].map((more) => ({ ...ANN, ...more })),
  ],
  hasOwn: [(v) => Object.hasOwn(v, 'id'), [{ id: 1 }], [{}]],
  'a name that objects inherit': [(v) => v['toString'], [{}], [{ toString: 'mine' }]],
  'the key __proto__': [(v) => v['__proto__'], [{}], [JSON.parse('{"__proto__": 1}') as object]],
};

for (const [what, [look, alike, different]] of Object.entries(CASES)) {
  test(`reading ${what} tells apart the viewers that differ in it, and no others`, () => {
    const reads = read(look);
    for (const viewer of alike) assert.ok(agree(reads, ANN, viewer), `alike: ${JSON.stringify(viewer)}`);
    for (const viewer of different)
      assert.ok(!agree(reads, ANN, viewer), `different: ${JSON.stringify(viewer)}`);
  });
}

test('different reads never give the same text, for any places and values', () => {
  const reads = read((viewer) => [viewer['a'], viewer['b']], {});
  const some = ['1\n2', '-', '-\n-'].map((a) => ({ a }));
  const viewers = [{ a: '1', b: '2' }, { a: '1', b: null }, { a: 1, b: 2 }, {}, ...some];
  assert.equal(new Set(viewers.map((viewer) => reads.valuesIn(viewer))).size, viewers.length);
});

test('reading a whole object covers reads inside it, reading a value covers reading its presence, and no other read is covered', () => {
  const whole = read((viewer) => JSON.stringify(viewer.org));
  assert.ok(whole.covers(read((viewer) => viewer.org.plan.name)));
  assert.ok(!whole.covers(read((viewer) => viewer.id)));
  const value = read((viewer) => viewer.id);
  assert.ok(value.covers(read((viewer) => 'id' in viewer)));
  assert.ok(!read((viewer) => 'id' in viewer).covers(value));
  assert.ok(value.covers(read(() => 1)));
});

test('sets of the same reads are identical, in any order of the reads', () => {
  const one = read((viewer) => [viewer.id, viewer.name]);
  const other = read((viewer) => [viewer.name, viewer.id, viewer.name]);
  assert.equal(one.identity, other.identity);
  assert.notEqual(one.identity, read((viewer) => viewer.id).identity);
});

test('the difference of two viewers is the path of the first read in which they differ', () => {
  const reads = read((viewer) => [viewer.id, viewer.org.plan.name]);
  const differenceTo = (more: object) => reads.difference(ANN as never, { ...ANN, ...more } as never);
  assert.equal(differenceTo({ org: { id: 7, plan: { name: 'red' } } }), 'org.plan.name');
  assert.equal(differenceTo({ name: 'Ann' }), undefined);
  assert.equal(read((viewer) => JSON.stringify(viewer)).difference(ANN as never, {}), '*');
});

test('a viewer can not be changed, and the error says what was tried', () => {
  const changes: ((viewer: Record<string, unknown>) => unknown)[] = [
    (viewer) => (viewer['id'] = 2),
    (viewer) => delete viewer['id'],
    (viewer) => Object.defineProperty(viewer, 'id', { value: 2 }),
    (viewer) => Object.setPrototypeOf(viewer, null),
    (viewer) => Object.freeze(viewer),
    (viewer) => (viewer['roles'] as string[]).push('admin'),
    (viewer) => (viewer['roles'] as string[]).copyWithin(0, 1),
    (viewer) => ((viewer['org'] as Record<string, unknown>)['id'] = 8),
  ];
  for (const change of changes) {
    assert.throws(() => read((viewer) => change(viewer as Record<string, unknown>)), /the viewer/);
  }
});

test('a viewer is plain JSON, and a value that is not is refused with its path', () => {
  assert.deepEqual(frozenJson({ a: undefined, b: [1, { c: null }] }, 'viewer'), { b: [1, { c: null }] });
  assert.ok(Object.isFrozen((frozenJson({ a: { b: [] } }, 'viewer') as { a: { b: unknown } }).a.b));
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const refused: [unknown, RegExp][] = [
    [{ at: new Date() }, /viewer\.at: expected plain JSON, got an instance of Date/],
    [{ list: [1, () => 1] }, /viewer\.list\[1\].*function/],
    [{ n: NaN }, /viewer\.n.*NaN/],
    [{ n: 1n }, /bigint/],
    [new Map(), /instance of Map/],
    [circle, /circle/],
  ];
  for (const [value, message] of refused) assert.throws(() => frozenJson(value, 'viewer'), message);
});

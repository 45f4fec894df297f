import assert from 'node:assert/strict';
import test from 'node:test';
import { ConnectionMaxAge } from '../../../../src/transports/connections/max-age.ts';

const endAt = (chance: number): number =>
  new ConnectionMaxAge(
    3_600,
    () => 10_999,
    () => chance,
  ).endsAt();

test('a connection ends between four fifths of the maximum age and all of it, in whole seconds', () => {
  assert.equal(endAt(0), 10 + 3_600);
  assert.equal(endAt(0.5), 10 + 3_240);
  assert.equal(endAt(0.999_999), 10 + 2_881);
});

test('connections past their end are found, in any order of ends', () => {
  let now = 0;
  const ages = new ConnectionMaxAge(100, () => now);
  const connections = Array.from({ length: 500 }, () => {
    now += Math.random() * 1_000;
    return { endsAt: ages.endsAt() };
  });
  for (; now < 400_000; now += 1_000) {
    const second = Math.floor(now / 1_000);
    const due = connections.filter(({ endsAt }) => endsAt <= second);
    assert.deepEqual(ages.expired(connections), due);
  }
  assert.equal(ages.expired(connections).length, 500);
});

test('young connections are not checked', () => {
  const ages = new ConnectionMaxAge(100, () => 0);
  let looked = 0;
  function* connections() {
    for (const endsAt of [0, 20, 21, 90, 95]) {
      looked += 1;
      yield { endsAt };
    }
  }
  assert.deepEqual(ages.expired(connections()), [{ endsAt: 0 }]);
  assert.equal(looked, 3);
});

test('without a maximum age connections have no end', () => {
  const ages = new ConnectionMaxAge(0);
  assert.equal(ages.limited, false);
  assert.equal(ages.endsAt(), 0);
});

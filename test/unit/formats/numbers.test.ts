import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { snakeCase } from '../../../src/events/snake-case.ts';
import { canonicalDecimal, compareDecimals, decimalOf } from '../../../src/formats/decimals.ts';
import { parseWithDigits } from '../../../src/formats/json-digits.ts';
import type { LeafKind, Shape } from '../../../src/formats/shape.ts';
import { Random } from '../../helpers/random.ts';

const LEAVES: Readonly<Record<string, LeafKind>> = { big_id: 'digits', id: 'text', price: 'number' };

const shape: Shape = {
  leaf: undefined,
  takesNumbers: false,
  isList: false,
  field: (name) => {
    const leaf = LEAVES[name];
    return leaf === undefined ? shape : { ...shape, leaf, field: () => undefined };
  },
};

describe('decimal numbers', () => {
  for (const [same, other] of [
    ['1', '1.0'],
    ['-0', '0'],
    ['+5', '005'],
    ['.5', '0.50'],
    ['1e3', '1000'],
    ['12e-1', '1.2'],
    [1e21, '1000000000000000000000'],
    [1e-7, '0.0000001'],
    [5, '5'],
  ]) {
    it(`${same} and ${other} are equal`, () => {
      assert.equal(canonicalDecimal(same), canonicalDecimal(other));
    });
  }

  for (const none of [
    '',
    '.',
    '1.2.3',
    'a',
    '1e',
    '0x5',
    ' 1',
    NaN,
    Infinity,
    true,
    null,
    undefined,
    {},
    '9'.repeat(1_001),
    '1e9999',
  ]) {
    it(`${String(none).slice(0, 20)} is none`, () => {
      assert.equal(decimalOf(none), undefined);
    });
  }

  it('are ordered as integers of any size are', () => {
    const random = Random.of(1, 'decimals');
    const one = () =>
      BigInt(random.between(-3, 3)) * 10n ** BigInt(random.between(0, 30)) + BigInt(random.between(-5, 5));
    for (let index = 0; index < 2_000; index += 1) {
      const [a, b] = [one(), one()];
      const scale = random.between(0, 3);
      const text = (value: bigint): string => (scale === 0 ? String(value) : `${value}e-${scale}`);
      const [left, right] = [decimalOf(text(a)), decimalOf(text(b))];
      assert.ok(left !== undefined && right !== undefined);
      assert.equal(
        Math.sign(compareDecimals(left, right)),
        a < b ? -1 : Number(a > b),
        `${text(a)} ${text(b)}`,
      );
    }
  });
});

const parsed = (text: string) => parseWithDigits(text, shape, snakeCase);

describe('JSON with numbers whose digits all count', () => {
  it('keeps them where the schema says so, and is as JSON.parse has it elsewhere', () => {
    const text =
      '{"bigId":9007199254740993,"id":9007199254740993,"price":9007199254740993,"list":[{"bigId":-12345678901234567890.5}],"other":12345678901234567890,"text":"\\"12345678901234567890"}';
    assert.deepEqual(parsed(text), {
      bigId: '9007199254740993',
      id: '9007199254740993',
      price: 9007199254740992,
      list: [{ bigId: '-12345678901234567890.5' }],
      other: 12345678901234567000,
      text: '"12345678901234567890',
    });
  });

  it('is text at such a field whatever the number is, and keeps the zeros of decimals', () => {
    const text = '{"bigId":5,"a":[1.5e3,"x"],"list":[{"big_id":12.50},{"big_id":1e400}]}';
    const list = [{ big_id: '12.50' }, { big_id: '1e400' }];
    assert.deepEqual(parsed(text), { bigId: '5', a: [1_500, 'x'], list });
  });

  for (const none of [
    '{"a":012345678901234567890}',
    '{"a":1.2.3.4.5.6.7.8.9.0.1.2}',
    '{"a":1234567890123456.}',
    '{12345678901234567890:1}',
    '{"a":12345678901234567 8}',
    `{"a":12345678901234567,"b":"${'\\\\"'.repeat(100_000)}`,
    '{"bigId":12345678901234567890',
    '[12345678901234567890x]',
  ]) {
    it(`is none, at once: ${none.slice(0, 40)}`, () => {
      assert.throws(() => JSON.parse(none), SyntaxError);
      assert.throws(() => parsed(none), SyntaxError);
    });
  }

  it('of random values is what JSON.parse makes, but for the digits', () => {
    const random = Random.of(2, 'json');
    const value = (depth: number): string => {
      switch (random.between(0, depth > 3 ? 3 : 5)) {
        case 0:
          return String(
            random.pick([
              '9007199254740993',
              '-1',
              '1.0000000000000000001',
              '12345678901234567890e5',
              '0',
              '1e0000000000000000001',
              '1.5E-00000000000000000001',
              '-0.0',
            ]),
          );
        case 1:
          return JSON.stringify(random.pick(['12345678901234567890', 'a\\"9007199254740993', '"', '\\', '']));
        case 2:
          return random.pick(['true', 'null', 'false']);
        case 3:
          return random.pick(['[]', '{}']);
        case 4:
          return `[${value(depth + 1)} , ${value(depth + 1)}]`;
        default:
          return `{"x": ${value(depth + 1)},"12345678901234567890":${value(depth + 1)}}`;
      }
    };
    for (let index = 0; index < 3_000; index += 1) {
      const text = value(0);
      assert.deepEqual(parsed(text), JSON.parse(text), text);
    }
  });

  it('refuses what is nested too deep', () => {
    assert.throws(() => parsed(`${'['.repeat(500)}12345678901234567890${']'.repeat(500)}`), {
      reason: 'too_deep',
    });
  });
});

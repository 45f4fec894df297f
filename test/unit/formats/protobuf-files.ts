import type { Random } from '../../helpers/random.ts';

const SCALARS = [
  'double', 'float', 'int32', 'uint32', 'sint32', 'fixed32', 'sfixed32', 'int64', 'uint64', 'sint64', 'fixed64',
  'sfixed64', 'bool', 'string', 'bytes',
] as const; // prettier-ignore
const KEYS = ['int32', 'uint64', 'sint64', 'bool', 'string'] as const;

/** One message of a random file. */
interface RandomMessage {
  readonly name: string;
  readonly fields: RandomField[];
}

interface RandomField {
  readonly name: string;
  readonly type: string;
  readonly label: 'single' | 'optional' | 'repeated' | 'map' | 'oneof';
  readonly key: string;
}

/** A random .proto file, and values for its first message. */
export class RandomFile {
  readonly #random: Random;
  readonly #messages: RandomMessage[] = [];

  constructor(random: Random) {
    this.#random = random;
    const count = random.between(1, 4);
    for (let index = 0; index < count; index += 1) this.#messages.push({ name: `M${index}`, fields: [] });
    for (const { fields } of this.#messages) {
      for (let index = random.between(1, 7); index > 0; index -= 1) fields.push(this.#field(fields.length));
    }
  }

  #field(index: number): RandomField {
    const random = this.#random;
    const label = random.pick(['single', 'single', 'optional', 'repeated', 'map', 'oneof'] as const);
    const type = random.chance(0.2)
      ? random.pick(this.#messages).name
      : random.chance(0.1)
        ? 'Kind'
        : random.pick(SCALARS);
    return { name: `f_${index}`, type, label, key: random.pick(KEYS) };
  }

  get text(): string {
    const messages = this.#messages.map(({ name, fields }) => {
      const [lines, choice]: [string[], string[]] = [[], []];
      for (const [index, { name: field, type, label, key }] of fields.entries()) {
        const named = `${field} = ${(index + 1) * 17};`;
        if (label === 'oneof') choice.push(`${type} ${named}`);
        else if (label === 'map') lines.push(`map<${key}, ${type}> ${named}`);
        else lines.push(`${label === 'single' ? '' : label} ${type} ${named}`);
      }
      const oneof = choice.length === 0 ? '' : `oneof choice { ${choice.join(' ')} }`;
      return `message ${name} { ${lines.join(' ')} ${oneof} }`;
    });
    return `syntax = "proto3"; package acme; enum Kind { NONE = 0; SOME = 1; } ${messages.join('\n')}`;
  }

  /** An object as protobufjs takes it; fields are left out at random. */
  value(message = this.#messages[0], depth = 4): Record<string, unknown> {
    const value: Record<string, unknown> = {};
    let isChosen = false;
    for (const field of message?.fields ?? []) {
      const { name, label, key } = field;
      if (this.#random.chance(0.3) || (label === 'oneof' && isChosen)) continue;
      if (label === 'oneof') isChosen = true;
      const one = (): unknown => this.#one(field.type, depth);
      if (depth <= 0 && field.type.startsWith('M')) continue;
      if (label === 'repeated') value[name] = Array.from({ length: this.#random.between(0, 3) }, one);
      else if (label === 'map') value[name] = { [this.#key(key)]: one() };
      else value[name] = one();
    }
    return value;
  }

  #key(type: string): string {
    return type === 'bool' ? 'true' : type === 'string' ? 'a key' : String(this.#random.between(0, 1e6));
  }

  #one(type: string, depth: number): unknown {
    const random = this.#random;
    const message = this.#messages.find(({ name }) => name === type);
    if (message !== undefined) return this.value(message, depth - 1);
    switch (type) {
      case 'Kind':
        return random.pick(['NONE', 'SOME']);
      case 'bool':
        return random.chance(0.5);
      case 'string':
        return random.pick(['', 'a', 'ü€😀', 'x'.repeat(200)]);
      case 'bytes':
        return Buffer.from([1, 2, random.between(0, 255)]);
      case 'double':
        return random.pick([0, -1.5, 1e300, NaN]);
      case 'float':
        return random.pick([0, 1.5, -2]);
      default: {
        const size = type.includes('64') ? 2 ** 53 - 1 : 2 ** 31 - 1;
        const number = Math.floor(random.next() * size);
        return type.startsWith('u') || type.startsWith('fixed') || random.chance(0.5) ? number : -number;
      }
    }
  }
}

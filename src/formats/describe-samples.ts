import { isRecord } from '../support/kind-of.ts';
import {
  scalarOf,
  typeNameOf,
  type Described,
  type DescribedField,
  type DescribedObject,
  type DescribedValue,
} from './described.ts';

/** Keys beyond this number of one object are values of a map, and not fields. */
const MOST_FIELDS = 200;

/** @param samples JSON values of one topic; other values than objects are passed over */
export function describeSamples(samples: readonly unknown[], name: string): DescribedObject {
  return objectOf(samples.filter(isRecord), name);
}

function objectOf(samples: readonly Readonly<Record<string, unknown>>[], name: string): DescribedObject {
  const names = [...new Set(samples.flatMap((sample) => Object.keys(sample)))];
  const fields = names.map((field): DescribedField => {
    const values = samples.map((sample) => sample[field]);
    return { name: field, ...valueOf(values, typeNameOf(field)) };
  });
  return { kind: 'object', name, definition: fields, fields: () => fields };
}

/** @param values undefined where an object lacks the field */
function valueOf(values: readonly unknown[], name: string): DescribedValue {
  const present = values.filter((value) => value !== undefined && value !== null);
  return { type: typeOf(present, name), isNullable: present.length < values.length || values.length === 0 };
}

function typeOf(values: readonly unknown[], name: string): Described {
  const [first] = values;
  if (first === undefined) return scalarOf('JSON');
  if (values.every((value) => typeof value === 'number')) return scalarOf(numberOf(values));
  if (values.every((value) => typeof value === 'boolean')) return scalarOf('Boolean');
  if (values.every((value) => typeof value === 'string')) return scalarOf('String');
  if (values.every((value) => Array.isArray(value)))
    return { kind: 'list', of: valueOf(values.flat(), name) };
  if (!values.every(isRecord)) return scalarOf('JSON');
  const names = new Set(values.flatMap((value) => Object.keys(value)));
  if (names.size <= MOST_FIELDS && names.size > 0) return objectOf(values, name);
  return {
    kind: 'map',
    of: valueOf(
      values.flatMap((value) => Object.values(value)),
      name,
    ),
  };
}

function numberOf(values: readonly number[]): 'Int' | 'Long' | 'Float' {
  if (!values.every(Number.isInteger)) return 'Float';
  return values.every((value) => Math.abs(value) < 2 ** 31) ? 'Int' : 'Long';
}

import type { types } from '@babel/core';

/** A key of a literal, and the nodes that are generated for it. */
export interface Key {
  /** Equal for keys that are known at compile time to be equal. */
  readonly id: string;
  /** Whether `node` has to stand in brackets in a literal. */
  readonly computed: boolean;
  /** Makes a new node of the key. */
  readonly node: () => types.Expression;
  /** Makes a new node that the key's `case` compares with. */
  readonly test: () => types.Expression;
}

/** The text of a key that is known at compile time: written as a name or as a literal. */
export function constantKey({
  key,
  computed,
}: types.ObjectProperty | types.ObjectMethod): string | undefined {
  if (key.type === 'StringLiteral' || key.type === 'NumericLiteral') return String(key.value);
  if (key.type === 'BigIntLiteral') return String(BigInt(key.value));
  return key.type === 'Identifier' && computed !== true ? key.name : undefined;
}

/** @param text what `constantKey` returned */
export function keyOf(
  t: typeof types,
  { key, computed }: types.ObjectProperty | types.ObjectMethod,
  text: string,
): Key {
  const test = (): types.Expression => t.stringLiteral(text);
  // Without brackets the key would set the prototype.
  if (text === '__proto__') return { id: text, computed: true, node: test, test };
  const node = computed === true ? test : (): types.Expression => t.cloneNode(key as types.Expression);
  return { id: text, computed: false, node, test };
}

import { Kind, valueFromASTUntyped, type ConstValueNode, type NameNode } from 'graphql';
import { listed, placeOf, type Findings } from '../diagnostic.ts';

export const OPERATORS = ['eq', 'ne', 'in', 'gt', 'gte', 'lt', 'lte', 'contains'] as const;
export type Operator = (typeof OPERATORS)[number];

/**
 * The value that a field is compared with: a literal in the schema, an argument of the subscription, or a viewer value.
 */
export type Operand =
  | { readonly kind: 'literal'; readonly value: unknown; readonly node: ConstValueNode }
  | { readonly kind: 'argument'; readonly name: string; readonly node: ConstValueNode }
  | { readonly kind: 'viewer'; readonly path: readonly string[]; readonly node: ConstValueNode }
  | { readonly kind: 'list'; readonly items: readonly Operand[]; readonly node: ConstValueNode };

export interface Comparison {
  readonly kind: 'comparison';
  /** Field names, from the event's own field downwards. */
  readonly path: readonly NameNode[];
  readonly operator: Operator;
  readonly operand: Operand;
  /** Where the operator stands; undefined: there is only a value, which FilterCheck refuses. */
  readonly node: NameNode | undefined;
}

/** `@filter(where:)` as a tree. */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'not'; readonly condition: Condition }
  | Comparison;

type Path = readonly NameNode[];

const CONNECTIVES: ReadonlySet<string> = new Set(['and', 'or', 'not']);

/** Reads the syntax of a filter; FilterCheck compares its fields and values with the schema. */
export function readFilter(where: ConstValueNode, file: string, findings: Findings): Condition {
  return new FilterReader(file, findings).group(where, []);
}

class FilterReader {
  readonly #file: string;
  readonly #findings: Findings;

  constructor(file: string, findings: Findings) {
    this.#file = file;
    this.#findings = findings;
  }

  /** The conditions under several keys of one object are joined by `and`. */
  group(node: ConstValueNode, path: Path): Condition {
    if (node.kind !== Kind.OBJECT || node.fields.length === 0) {
      if (path.length > 0) {
        const operand: Operand = { kind: 'literal', value: valueFromASTUntyped(node), node };
        return { kind: 'comparison', path, operator: 'eq', operand, node: undefined };
      }
      const message = `expected conditions in braces, got ${shown(node)}`;
      this.#fault(node, message, `Write { amount: { gte: 5 } }; operators: ${listed(OPERATORS)}.`);
      return { kind: 'and', conditions: [] };
    }
    const others = node.fields.filter(({ name }) => !CONNECTIVES.has(name.value));
    const isComparison = path.length > 0 && others.every(({ name }) => isOperator(name.value));
    const conditions = node.fields.map(({ name, value }): Condition => {
      if (name.value === 'not') return { kind: 'not', condition: this.group(value, path) };
      if (name.value === 'and' || name.value === 'or') return this.#list(name.value, value, path);
      if (!isComparison || !isOperator(name.value)) return this.group(value, [...path, name]);
      const operand = this.#operand(value);
      return { kind: 'comparison', path, operator: name.value, operand, node: name };
    });
    const [only] = conditions;
    return conditions.length === 1 && only ? only : { kind: 'and', conditions };
  }

  #list(kind: 'and' | 'or', node: ConstValueNode, path: Path): Condition {
    if (node.kind === Kind.LIST && node.values.length > 0) {
      return { kind, conditions: node.values.map((value) => this.group(value, path)) };
    }
    this.#fault(
      node,
      `expected a list of conditions under ${kind}, got ${shown(node)}`,
      `Write ${kind}: [{ … }, { … }].`,
    );
    return { kind, conditions: [] };
  }

  #operand(node: ConstValueNode): Operand {
    if (node.kind === Kind.LIST) {
      return { kind: 'list', items: node.values.map((value) => this.#operand(value)), node };
    }
    if (node.kind !== Kind.STRING || !node.value.startsWith('$')) {
      return { kind: 'literal', value: valueFromASTUntyped(node), node };
    }
    if (node.value.startsWith('$$')) return { kind: 'literal', value: node.value.slice(1), node };
    const name = node.value.slice(1);
    if (/^viewer(\.|$)/.test(name)) {
      const path = name.split('.').slice(1);
      if (path.length === 0 || path.includes('')) {
        this.#fault(
          node,
          `expected a path like "$viewer.id", got ${shown(node)}`,
          'Name one value of the viewer.',
        );
      }
      return { kind: 'viewer', path, node };
    }
    return { kind: 'argument', name, node };
  }

  #fault(node: ConstValueNode, message: string, hint: string): void {
    this.#findings.error(placeOf(node, this.#file), `@filter: ${message}`, hint);
  }
}

export function isOperator(name: string): name is Operator {
  return OPERATORS.some((operator) => operator === name);
}

/** Whether the operand, or an item of it, is an argument. */
export function usesArguments(operand: Operand): boolean {
  return operand.kind === 'argument' || (operand.kind === 'list' && operand.items.some(usesArguments));
}

/** Paths of all viewer values in a condition or operand. */
export function viewerPathsOf(part: Condition | Operand): (readonly string[])[] {
  switch (part.kind) {
    case 'viewer':
      return [part.path];
    case 'list':
      return part.items.flatMap(viewerPathsOf);
    case 'comparison':
      return viewerPathsOf(part.operand);
    case 'not':
      return viewerPathsOf(part.condition);
    case 'and':
    case 'or':
      return part.conditions.flatMap(viewerPathsOf);
    default:
      return [];
  }
}

/** A literal of the schema, for messages. */
export function shown(node: ConstValueNode): string {
  return JSON.stringify(valueFromASTUntyped(node)) ?? 'nothing';
}

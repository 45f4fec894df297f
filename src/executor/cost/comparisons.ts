import { Kind, type FieldNode, type SelectionNode, type SelectionSetNode } from 'graphql';
import type { Fragments } from '../fragments.ts';

/**
 * Counts the steps of graphql-js's rule OverlappingFieldsCanBeMerged for an operation: at each path of the response, the
 * rule compares each pair of fields with one key, and each pair of fragments. (Its own bound is reached after about 0.3 s.)
 */
export class Comparisons {
  readonly #fragments: Fragments;
  readonly #limit: number;
  #count = 0;

  constructor(fragments: Fragments, limit: number) {
    this.#fragments = fragments;
    this.#limit = limit;
  }

  /** Past the limit, it is only the count at which counting stopped. */
  get count(): number {
    return this.#count;
  }

  /**
   * @param selectionSets of one path of the response. There are at most as many paths as fields; the caller has to limit
   *   the fields before.
   */
  add(selectionSets: readonly SelectionSetNode[]): void {
    for (const nodes of this.#byKey(selectionSets).values()) {
      if (this.#count > this.#limit) return;
      this.#count += pairs(nodes.size);
      const below = [...nodes].flatMap(({ selectionSet }) => selectionSet ?? []);
      if (below.length > 0) this.add(below);
    }
  }

  /** The fields of one path by response key; each fragment is expanded once. */
  #byKey(selectionSets: readonly SelectionSetNode[]): Map<string, Set<FieldNode>> {
    const fields = new Map<string, Set<FieldNode>>();
    const spread = new Set<string>();
    const waiting: SelectionNode[] = selectionSets.flatMap(({ selections }) => selections);
    for (let selection = waiting.pop(); selection !== undefined; selection = waiting.pop()) {
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const nodes = fields.get(key);
        if (nodes === undefined) fields.set(key, new Set([selection]));
        else nodes.add(selection);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        waiting.push(...selection.selectionSet.selections);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        waiting.push(...(this.#fragments[selection.name.value]?.selectionSet.selections ?? []));
      }
    }
    this.#count += spread.size + pairs(spread.size);
    return fields;
  }
}

const pairs = (count: number): number => (count * (count - 1)) / 2;

import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import type { Exposition } from './exposition.ts';

/**
 * Checks a query against the metrics: each series and label that it names must exist, and so must each value that it
 * asks for with `=`.
 *
 * @returns the labels of the result
 * @throws if the query names anything else
 */
export function checkQuery(query: string, exposition: Exposition): Set<string> {
  const tree = parser.parse(query);
  tree.iterate({
    enter: ({ type, from }) => {
      if (type.isError) throw new Error(`no PromQL, from here on: ${query.slice(from) || '(its end)'}`);
    },
  });
  return new Checker(query, exposition).labelsOf(child(tree.topNode));
}

class Checker {
  readonly #query: string;
  readonly #exposition: Exposition;

  constructor(query: string, exposition: Exposition) {
    this.#query = query;
    this.#exposition = exposition;
  }

  labelsOf(node: SyntaxNode): Set<string> {
    switch (node.name) {
      case 'VectorSelector':
        return this.#ofSelector(node);
      case 'AggregateExpr':
        return this.#ofAggregation(node);
      case 'BinaryExpr':
        return this.#ofBinary(node);
      case 'FunctionCall':
        return this.#ofCall(node);
      case 'MatrixSelector':
      case 'OffsetExpr':
      case 'ParenExpr':
        return this.labelsOf(child(node));
      case 'NumberDurationLiteral':
        return new Set();
      default:
        throw new Error(`${node.name}: not known here: ${this.#text(node)}`);
    }
  }

  #ofSelector(node: SyntaxNode): Set<string> {
    const name = this.#text(node.getChild('Identifier'));
    const labels = this.#exposition.labelsOf(name);
    for (const matcher of node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []) {
      const label = this.#text(matcher.getChild('LabelName'));
      this.#demand(labels, label, name);
      if (matcher.getChild('MatchOp')?.getChild('EqlSingle') === null) continue;
      const value = this.#text(matcher.getChild('StringLiteral')).slice(1, -1);
      const known = this.#exposition.valuesOf(name, label);
      if (known?.has(value) === false)
        throw new Error(`${name} never has ${label}="${value}": ${[...known]}`);
    }
    return labels;
  }

  /** The result has only the labels that the query groups by. */
  #ofAggregation(node: SyntaxNode): Set<string> {
    const of = this.#argumentsOf(node).at(-1) ?? new Set();
    const modifier = node.getChild('AggregateModifier');
    if (modifier?.getChild('Without')) throw new Error('without: not known here');
    const grouping = modifier?.getChild('GroupingLabels')?.getChildren('LabelName') ?? [];
    const labels = grouping.map((label) => this.#text(label));
    for (const label of labels) this.#demand(of, label, this.#text(node));
    // topk keeps whole series.
    return this.#text(node).startsWith('topk') ? of : new Set(labels);
  }

  /** Both vectors must have the same labels, since all labels must match; `or` and `unless` keep the left ones. */
  #ofBinary(node: SyntaxNode): Set<string> {
    const [left, right] = [child(node), node.lastChild as SyntaxNode];
    const [own, other] = [this.labelsOf(left), this.labelsOf(right)];
    if (this.#isScalar(left)) return other;
    if (this.#isScalar(right)) return own;
    if (node.getChild('MatchingModifierClause')) throw new Error('on, ignoring: not known here');
    if ([...own].toSorted().join() !== [...other].toSorted().join()) {
      throw new Error(`{${[...own]}} and {${[...other]}} never match: ${this.#text(node)}`);
    }
    return own;
  }

  /** A scalar is one value without labels, and goes with each value of a vector. */
  #isScalar(node: SyntaxNode): boolean {
    if (node.name === 'BinaryExpr')
      return this.#isScalar(child(node)) && this.#isScalar(node.lastChild as SyntaxNode);
    return node.name === 'NumberDurationLiteral' || this.#text(node) === 'time()';
  }

  #ofCall(node: SyntaxNode): Set<string> {
    const labels = new Set(this.#argumentsOf(node).at(-1));
    const name = this.#text(node.getChild('FunctionIdentifier'));
    if (name === 'absent') return new Set();
    if (name === 'histogram_quantile') {
      this.#demand(labels, 'le', this.#text(node));
      labels.delete('le');
    }
    return labels;
  }

  #argumentsOf(node: SyntaxNode): Set<string>[] {
    const body = node.getChild('FunctionCallBody');
    const found: Set<string>[] = [];
    for (let part = body?.firstChild ?? null; part !== null; part = part.nextSibling) {
      if (/^\W*$/.test(part.name)) continue;
      found.push(this.labelsOf(part));
    }
    return found;
  }

  #demand(labels: ReadonlySet<string>, label: string, where: string): void {
    if (!labels.has(label)) throw new Error(`${where} has no label ${label}, only ${[...labels]}`);
  }

  #text(node: SyntaxNode | null): string {
    return node === null ? '' : this.#query.slice(node.from, node.to);
  }
}

function child(node: SyntaxNode): SyntaxNode {
  if (node.firstChild === null) throw new Error(`${node.name}: expected something in it`);
  return node.firstChild;
}

import { fault } from './fault.js';

/**
 * Refuses what a value that is built later can't keep of the place where it was written: `await` and `yield`, which
 * belong to a function that is over by then, and variables that may hold something else by then.
 */
export class Captures {
  #literal;

  /** @param {import('@babel/core').NodePath} literal */
  check(literal) {
    this.#literal = literal;
    literal.traverse({
      AwaitExpression: (path) => this.#refuse(path, 'await'),
      YieldExpression: (path) => this.#refuse(path, 'yield'),
      ForOfStatement: (path) => path.node.await && this.#refuse(path, 'await'),
      ReferencedIdentifier: (path) => this.#checkIdentifier(path),
    });
  }

  #refuse(path, word) {
    if (this.#isInFunction(path)) return;
    throw fault(
      path,
      `${word} can't stand in a value that is built later`,
      `Do it first and use its result, or let the value be the promise.`,
    );
  }

  /** What a function within the literal reads it reads when it is called, here as anywhere. */
  #checkIdentifier(path) {
    if (this.#isInFunction(path) || this.#isInKey(path)) return;
    const binding = path.scope.getBinding(path.node.name);
    if (binding === undefined || binding.constantViolations.length === 0 || this.#holds(binding.path)) return;
    const line = binding.constantViolations[0]?.node.loc?.start.line;
    throw fault(
      path,
      `"${path.node.name}" is assigned again${line === undefined ? '' : ` (line ${line})`}, and may have changed when the value is built`,
      `Copy it into a const first.`,
    );
  }

  #isInFunction(path) {
    const owner = path.getFunctionParent();
    return owner !== null && this.#holds(owner);
  }

  /** Computed keys are built at once. */
  #isInKey(path) {
    const part = path.find(({ parentPath }) => parentPath?.parentPath === this.#literal);
    return part?.key === 'key';
  }

  #holds(path) {
    return path !== this.#literal && path.isDescendant(this.#literal);
  }
}

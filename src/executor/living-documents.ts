import type { DocumentNode } from 'graphql';
import type { Operation } from './operation.ts';

/**
 * The operations of each document with an operation still in use, by query text. Subscribers of a document must find the
 * same operations as earlier subscribers, even if the cache of documents evicted it long ago: groups are distinguished by
 * the identity of their operation.
 *
 * Every operation of a document holds that document, so the document lives for as long as any of them is in use; and its
 * operations are kept for as long as it lives.
 */
export class LivingDocuments {
  readonly #documents = new Map<string, WeakRef<DocumentNode>>();
  readonly #operations = new WeakMap<DocumentNode, readonly Operation[]>();
  readonly #registry = new FinalizationRegistry<string>((query) => {
    // The same text may have been prepared again since.
    if (this.#documents.get(query)?.deref() === undefined) this.#documents.delete(query);
  });

  /** Number of documents, including those that went out of use since the last garbage collection. */
  get size(): number {
    return this.#documents.size;
  }

  of(query: string): readonly Operation[] | undefined {
    const document = this.#documents.get(query)?.deref();
    return document && this.#operations.get(document);
  }

  add(query: string, operations: readonly Operation[]): void {
    const [first] = operations;
    if (first === undefined) return;
    this.#documents.set(query, new WeakRef(first.document));
    this.#operations.set(first.document, operations);
    this.#registry.register(first.document, query);
  }
}

import { jsonAt, type Json, type ReadSet, type ViewerTest } from './reads.ts';

/** The viewer of one execution, for the gateway's own tests: each test is added to the execution's reads. */
export class RecordedViewer {
  readonly #viewer: Json;
  readonly #reads: ReadSet | undefined;

  /** @param reads undefined if no shared result depends on the answers, for example when a client subscribes */
  constructor(viewer: Json, reads?: ReadSet) {
    this.#viewer = viewer;
    this.#reads = reads;
  }

  /** @param name see `ReadSet.addTest` */
  test(name: string, path: readonly string[], test: ViewerTest): boolean {
    this.#reads?.addTest(name, path, test);
    return test(jsonAt(this.#viewer, path));
  }
}

/**
 * Under this symbol a context holds its RecordedViewer, for the gateway. `ctx.viewer` is for the graph, whose code may
 * replace it.
 */
const RECORDED_VIEWER = Symbol('RecordedViewer');

export function setRecordedViewer(context: object, viewer: RecordedViewer): void {
  Object.defineProperty(context, RECORDED_VIEWER, { value: viewer, configurable: true });
}

/** @throws TypeError if the context has none: a check without a viewer must not let anyone through */
export function recordedViewerOf(context: unknown): RecordedViewer {
  const viewer: unknown = (context as Record<symbol, unknown> | undefined)?.[RECORDED_VIEWER];
  if (!(viewer instanceof RecordedViewer)) throw new TypeError('expected a context with a viewer, got none');
  return viewer;
}

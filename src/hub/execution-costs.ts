/** What splits the groups of a field with `sharing: NEVER`, in place of a path. */
export const UNSHARED_FIELD = 'sharing: NEVER';

/** What executions of one group have cost since it was made. */
export class ExecutionCosts {
  /** Begun. */
  executions = 0;
  /** ms of the event loop, until each was over or had begun to wait. */
  ms = 0;
  /** ms that asynchronous ones took until they were over. */
  awaitedMs = 0;
  /** The number of sets into which the last event split the subscribers, as their viewers differ in what was read. */
  buckets = 1;
  /** Made when it is needed: executions that were needed only because viewers differ, by the path at which they do. */
  #unshared: Map<string, number> | undefined;

  /** @param path one of a bounded number, or UNSHARED_FIELD */
  split(path: string, executions = 1): void {
    this.#unshared ??= new Map();
    this.#unshared.set(path, (this.#unshared.get(path) ?? 0) + executions);
  }

  /** See `split`; in all. */
  get unshared(): number {
    let executions = 0;
    for (const some of this.#unshared?.values() ?? []) executions += some;
    return executions;
  }

  /** The paths that have split the group, those that have cost most executions first. */
  get splits(): readonly { readonly path: string; readonly executions: number }[] {
    return [...(this.#unshared ?? [])]
      .map(([path, executions]) => ({ path, executions }))
      .toSorted((one, other) => other.executions - one.executions);
  }
}

/** Maximum number of values of a metric's label: a viewer's path can contain data (`permissions.4711`). */
const MAX_VALUES = 100;

/** Limits the number of values of a metric's label: at the maximum, all new values become `other`. */
export class BoundedLabels {
  readonly #known = new Set<string>();

  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size === MAX_VALUES) return 'other';
    this.#known.add(value);
    return value;
  }
}

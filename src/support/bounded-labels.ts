/** Most values that one label of a metric may take; a path of a viewer can hold data (`permissions.4711`). */
const MAX_VALUES = 100;

/** Keeps the values of a metric's label few: past the bound all new ones are `other`. */
export class BoundedLabels {
  readonly #known = new Set<string>();

  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size === MAX_VALUES) return 'other';
    this.#known.add(value);
    return value;
  }
}

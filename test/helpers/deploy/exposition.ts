/** Labels that Prometheus adds to each series of a target that a ServiceMonitor names. */
const TARGET_LABELS = ['namespace', 'pod', 'container', 'endpoint', 'service', 'job', 'instance'];

/** The series of a `/metrics` page: names, labels, and the values of labels on the page. */
export class Exposition {
  readonly #series = new Map<string, Map<string, Set<string>>>();

  constructor(page: string) {
    // Prometheus makes this series itself.
    this.#note('up', '');
    for (const line of page.split('\n')) {
      if (line === '' || line.startsWith('#')) continue;
      const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
      this.#note(name, labels);
    }
  }

  has(name: string): boolean {
    return this.#series.has(name);
  }

  /** @throws if there is no such series */
  labelsOf(name: string): Set<string> {
    const labels = this.#series.get(name);
    if (labels === undefined) throw new Error(`there is no series ${name}`);
    return new Set([...labels.keys(), ...TARGET_LABELS]);
  }

  /** Undefined if Prometheus sets the label. */
  valuesOf(name: string, label: string): ReadonlySet<string> | undefined {
    return this.#series.get(name)?.get(label);
  }

  #note(name: string, labels: string): void {
    const known = this.#series.get(name) ?? new Map<string, Set<string>>();
    this.#series.set(name, known);
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      known.set(label, (known.get(label) ?? new Set()).add(value));
    }
  }
}

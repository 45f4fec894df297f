/* Runs in the browser: what is looked at, in the URL's hash, so that it can be kept and handed on. */

/**
 * `#groups?sort=events&search=bid`: a view and its parameters. Each view keeps its own parameters while the user looks at
 * another one; `worker` is shared.
 */
export class PageState {
  #views;
  #view;
  #parameters = new Map();
  #worker = '';
  #changed;

  /**
   * @param views names; the first one is shown at the start
   * @param changed called when the user looks at another view, or changes its parameters
   */
  constructor(views, changed) {
    this.#views = views;
    this.#changed = changed;
    this.#read();
    addEventListener('hashchange', () => {
      this.#read();
      changed();
    });
  }

  get view() {
    return this.#view;
  }

  /** The chosen worker of the pod; empty: none is chosen. */
  get worker() {
    return this.#worker;
  }

  set worker(worker) {
    this.#worker = worker;
    this.#write();
  }

  get(name) {
    return this.#parameters.get(this.#view)?.[name];
  }

  /** @param parameters to change; undefined and empty ones are removed */
  set(parameters) {
    const next = { ...this.#parameters.get(this.#view), ...parameters };
    const kept = Object.entries(next).filter(([, value]) => value !== undefined && value !== '');
    this.#parameters.set(this.#view, Object.fromEntries(kept));
    this.#write();
  }

  /** The hash that leads to a view with its last parameters, or with other ones. */
  hashOf(view, parameters = this.#parameters.get(view)) {
    const query = new URLSearchParams({ ...parameters, ...(this.#worker && { worker: this.#worker }) });
    return query.size === 0 ? `#${view}` : `#${view}?${query}`;
  }

  #read() {
    const [view, query = ''] = location.hash.slice(1).split(/\?(.*)/s);
    this.#view = this.#views.includes(view) ? view : this.#views[0];
    const { worker = '', ...parameters } = Object.fromEntries(new URLSearchParams(query));
    this.#worker = /^\d+$/.test(worker) ? worker : '';
    this.#parameters.set(this.#view, parameters);
  }

  #write() {
    history.replaceState(null, '', this.hashOf(this.#view));
    this.#changed();
  }
}

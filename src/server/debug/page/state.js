/* Runs in the browser: what is looked at, in the URL's hash, so that it can be kept and handed on. */

/**
 * `#groups?sort=events&search=bid`: a view and what it is asked for. Each view keeps its own parameters while another is
 * looked at; `worker` is of all.
 */
export class PageState {
  #views;
  #view;
  #parameters = new Map();
  #worker = '';
  #changed;

  /**
   * @param views names; the first is the one to begin with
   * @param changed called when another view, or something else of it, is looked at
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

  /** Of the pod's workers; empty: it is not said which. */
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

  /** @param parameters to be changed; one that is undefined or empty goes away */
  set(parameters) {
    const next = { ...this.#parameters.get(this.#view), ...parameters };
    const kept = Object.entries(next).filter(([, value]) => value !== undefined && value !== '');
    this.#parameters.set(this.#view, Object.fromEntries(kept));
    this.#write();
  }

  /** The hash that leads to a view as it was looked at last, or with other parameters. */
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

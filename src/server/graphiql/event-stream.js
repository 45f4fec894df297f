/** Most results and closes that are kept; the oldest are dropped. */
const MAX_ENTRIES = 50;

/** graphql-ws would reconnect, but with the parameters that were just refused. */
const FORBIDDEN = 4403;

const IDLE = { phase: 'idle', error: undefined, count: 0, entries: [] };

/**
 * Runs one subscription at a time, over its own connection. It keeps what the page shows besides GraphiQL's single result:
 * the phase of the connection, and the latest results and closes, newest first.
 *
 *     idle ──► connecting ──► open ◄──► lost (connects again)
 *                 └─────────────┴─────────┴──► failed, completed (by the gateway), stopped (by the user)
 */
export class EventStream {
  #options;
  #snapshot = IDLE;
  #listeners = new Set();
  #framed = false;
  /** The observer of the subscription that runs. */
  #observer;
  /** A result that the observer has not seen yet. */
  #unseen;
  #unsubscribe;

  /**
   * @param options.createClient that of graphql-ws
   * @param options.url of the WebSocket
   * @param options.now ms since 1970
   * @param options.nextFrame like requestAnimationFrame: results are drawn once a frame, however fast they come
   */
  constructor(options) {
    this.#options = options;
  }

  /** The current state: a new object after each change. */
  snapshot = () => this.#snapshot;

  /** @returns a function that stops the calls */
  watch = (listener) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /**
   * @param connectionParams undefined: none
   * @returns an observable, which GraphiQL accepts from its fetcher: it begins when it is subscribed to
   */
  start(operation, connectionParams) {
    return {
      subscribe: (observer) => {
        this.clear();
        this.#observer = observer;
        this.#run(operation, connectionParams, observer);
        return {
          unsubscribe: () => {
            if (this.#observer === observer) this.#end({ phase: 'stopped' });
          },
        };
      },
    };
  }

  /** Ends the running subscription, and forgets its results. */
  clear() {
    const observer = this.#observer;
    if (observer !== undefined) {
      this.#end({ phase: 'stopped' });
      observer.complete();
    }
    this.#snapshot = IDLE;
    this.#draw();
  }

  #run(operation, connectionParams, observer) {
    const { createClient, url } = this.#options;
    const ifRunning =
      (act) =>
      (...args) => {
        if (this.#observer === observer) act(...args);
      };
    this.#change({ phase: 'connecting' });
    const client = createClient({
      url,
      connectionParams,
      // After all other codes that are not fatal to graphql-ws, and after failures to connect, which have no code. But not
      // once the subscription was stopped: graphql-ws would notice that only after it has reconnected.
      shouldRetry: ({ code }) => this.#observer === observer && code !== FORBIDDEN,
      on: {
        connected: ifRunning(() => this.#change({ phase: 'open' })),
        closed: ifRunning(({ code, reason }) =>
          this.#add({ close: closeText(code, reason) }, { phase: 'lost' }),
        ),
      },
    });
    this.#unsubscribe = client.subscribe(operation, {
      next: ifRunning((result) => {
        this.#unseen = result;
        this.#add({ result }, { count: this.#snapshot.count + 1 });
      }),
      error: ifRunning((thrown) => {
        const error = errorOf(thrown);
        this.#end({ phase: 'failed', error: messageOf(error) });
        observer.error(error);
      }),
      complete: ifRunning(() => {
        this.#end({ phase: 'completed' });
        observer.complete();
      }),
    });
  }

  #add(entry, change) {
    const { entries } = this.#snapshot;
    const number = (entries[0]?.number ?? 0) + 1;
    const added = { ...entry, number, at: this.#options.now() };
    this.#change({ ...change, entries: [added, ...entries.slice(0, MAX_ENTRIES - 1)] });
  }

  #end(change) {
    this.#showResult();
    this.#observer = undefined;
    this.#change(change);
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  #change(change) {
    this.#snapshot = { ...this.#snapshot, ...change };
    this.#draw();
  }

  #draw() {
    if (this.#framed) return;
    this.#framed = true;
    this.#options.nextFrame(() => {
      this.#framed = false;
      this.#showResult();
      for (const listener of this.#listeners) listener();
    });
  }

  #showResult() {
    const result = this.#unseen;
    this.#unseen = undefined;
    if (result !== undefined) this.#observer?.next(result);
  }
}

function closeText(code, reason) {
  return `${code} ${reason || '(without a reason)'}`;
}

/** The errors that GraphiQL shows: those of the operation, or one with the reason why the connection ended. */
function errorOf(thrown) {
  if (Array.isArray(thrown)) return thrown;
  const { code, reason, message } = thrown;
  if (typeof code === 'number') {
    return { message: `The connection was closed: ${closeText(code, reason)}`, extensions: { code, reason } };
  }
  return { message: message ?? 'No connection could be made: the browser does not tell why.' };
}

function messageOf(error) {
  return Array.isArray(error) ? error.map(({ message }) => message).join(' ') : error.message;
}

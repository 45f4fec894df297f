import { EventEmitter, once } from 'node:events';
import type { TestContext } from 'node:test';
import type { ConnectionListener } from '../../src/bus/redis/connection.ts';

type State = 'ready' | 'lost';

interface Startable {
  start(listener: ConnectionListener): void;
  stop(): void;
}

/** Records when a connection to Redis is ready and lost, in order. */
export class Watched {
  readonly states: State[] = [];
  readonly #changes = new EventEmitter();
  /** The number of states that `until` has seen. */
  #seen = 0;

  /** Starts the connection, and stops it after the test. */
  static start(t: TestContext, connection: Startable): Watched {
    const watched = new Watched();
    const note = (state: State): void => {
      watched.states.push(state);
      watched.#changes.emit('change');
    };
    connection.start({ onReady: () => note('ready'), onLost: () => note('lost') });
    t.after(() => connection.stop());
    return watched;
  }

  /** Waits for these states, one after the other, after the states of earlier calls. */
  async until(...wanted: readonly State[]): Promise<void> {
    for (const state of wanted) {
      while (this.states[this.#seen] !== state) {
        if (this.states[this.#seen] === undefined) await once(this.#changes, 'change');
        else this.#seen += 1;
      }
      this.#seen += 1;
    }
  }
}

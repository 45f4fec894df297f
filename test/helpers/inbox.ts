import { EventEmitter, once } from 'node:events';

/** The messages that a listener of a channel has got. */
export class Inbox {
  readonly messages: string[] = [];
  readonly #arrivals = new EventEmitter();

  readonly take = (payload: Buffer | string): void => {
    this.messages.push(payload.toString());
    this.#arrivals.emit('message');
  };

  /** Waits until there are `count` messages. */
  async until(count: number): Promise<readonly string[]> {
    while (this.messages.length < count) await once(this.#arrivals, 'message');
    return this.messages;
  }
}

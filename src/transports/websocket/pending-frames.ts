import type { SerializedResult } from '../../hub/result.ts';
import type { QueuedFrames } from './frame-batch.ts';
import { frameLength } from './frame.ts';

/** Held by a send queue only while something is in it. */
export class PendingFrames implements QueuedFrames {
  messages: (SerializedResult | string)[];
  ids: string[];
  bytes: number;
  /** Index of the first that has not been written. */
  next = 0;

  /** With its first: an empty array that is pushed to makes room for seventeen. */
  constructor(message: SerializedResult | string, id: string, bytes: number) {
    this.messages = [message];
    this.ids = [id];
    this.bytes = bytes;
  }

  add(message: SerializedResult | string, id: string, bytes: number): void {
    this.messages.push(message);
    this.ids.push(id);
    this.bytes += bytes;
  }

  written(next: number, bytes: number): void {
    this.next = next;
    this.bytes -= bytes;
  }

  /** Takes out the results with one id that have not been written. */
  remove(id: string): void {
    let kept = this.next;
    for (let at = this.next; at < this.messages.length; at += 1) {
      const [message, other] = [this.messages[at], this.ids[at]];
      if (message === undefined || other === undefined) continue;
      if (typeof message !== 'string' && other === id) {
        this.bytes -= frameLength(message.json.length, id.length);
        continue;
      }
      this.messages[kept] = message;
      this.ids[kept] = other;
      kept += 1;
    }
    this.messages.length = kept;
    this.ids.length = kept;
  }

  /** Releases what has been written. */
  dropWritten(): void {
    this.messages.splice(0, this.next);
    this.ids.splice(0, this.next);
    this.next = 0;
  }
}

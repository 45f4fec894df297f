import type { SerializedResult } from '../../hub/result.ts';
import type { QueuedFrames } from './frame-batch.ts';
import type { FrameFormat } from './frame-format.ts';

/** The contents of a send queue, which holds this object only while something waits. */
export class PendingFrames implements QueuedFrames {
  readonly format: FrameFormat;
  messages: (SerializedResult | string)[];
  ids: string[];
  bytes: number;
  /** Index of the first that has not been written. */
  next = 0;

  /** Begins with the first message: pushing to an empty array would reserve room for seventeen. */
  constructor(format: FrameFormat, message: SerializedResult | string, id: string, bytes: number) {
    this.format = format;
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

  /** Releases what has been written. */
  dropWritten(): void {
    this.messages.splice(0, this.next);
    this.ids.splice(0, this.next);
    this.next = 0;
  }
}

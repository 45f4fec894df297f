import type { Result } from '../../src/client/graphql-ws.ts';

/** Sends a subscription, whose client opts in to resume, the messages that a test asks for. */
export abstract class ScriptedOperation {
  abstract next(result: Result): void;

  greet(recovered: boolean, cursor?: string): void {
    this.next({ data: null, extensions: { recovered, ...(cursor !== undefined && { cursor }) } });
  }

  event(n: number, cursor?: string): void {
    this.next({ data: { n }, ...(cursor !== undefined && { extensions: { cursor } }) });
  }

  /** Sends an event that stands for skipped ones. */
  skip(skipped: number, n: number, cursor?: string): void {
    this.next({ data: { n }, extensions: { gap: { skipped }, ...(cursor !== undefined && { cursor }) } });
  }

  gap(topic: string, at: number): void {
    this.next({ data: null, extensions: { gap: { topic, at } } });
  }
}

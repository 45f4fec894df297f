import type { Result } from '../../src/client/graphql-ws.ts';

/** What a gateway sends of a subscription whose client opts in to resume, as a test says. */
export abstract class ScriptedOperation {
  abstract next(result: Result): void;

  greet(recovered: boolean, cursor?: string): void {
    this.next({ data: null, extensions: { recovered, ...(cursor !== undefined && { cursor }) } });
  }

  event(n: number, cursor?: string): void {
    this.next({ data: { n }, ...(cursor !== undefined && { extensions: { cursor } }) });
  }

  /** An event that stands for others. */
  skip(skipped: number, n: number, cursor?: string): void {
    this.next({ data: { n }, extensions: { gap: { skipped }, ...(cursor !== undefined && { cursor }) } });
  }

  gap(topic: string, at: number): void {
    this.next({ data: null, extensions: { gap: { topic, at } } });
  }
}

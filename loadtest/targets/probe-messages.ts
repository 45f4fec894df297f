/** A question of the load test to a server under test. The answer carries the same `number`. */
export type ProbeRequest = { readonly number: number } & (
  | { readonly ask: 'state' | 'collect' | 'count-promises' | 'promises-counted' }
  | { readonly ask: 'snapshot'; readonly file: string }
);

export interface ProbeAnswers {
  /** Utilisation and delay are since the last such question. */
  readonly state: {
    readonly heapBytes: number;
    readonly externalBytes: number;
    readonly loopUtilisation: number;
    readonly loopDelayMs: number;
  };
  /** The server collects all garbage first. */
  readonly collect: { readonly heapBytes: number };
  readonly 'count-promises': object;
  readonly 'promises-counted': { readonly promises: number };
  /** Writes a heap snapshot to the file. */
  readonly snapshot: object;
}

/** What the load test asks a server under test; `number` tells answers apart. */
export type ProbeRequest = { readonly number: number } & (
  | { readonly ask: 'state' | 'collect' | 'count-promises' | 'promises-counted' }
  | { readonly ask: 'snapshot'; readonly file: string }
);

export interface ProbeAnswers {
  /** Since the last time this was asked. */
  readonly state: {
    readonly heapBytes: number;
    readonly externalBytes: number;
    readonly loopUtilisation: number;
    readonly loopDelayMs: number;
  };
  /** Collects all garbage first. */
  readonly collect: { readonly heapBytes: number };
  readonly 'count-promises': object;
  readonly 'promises-counted': { readonly promises: number };
  /** Writes a heap snapshot to the file. */
  readonly snapshot: object;
}

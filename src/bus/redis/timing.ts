export interface BusTiming {
  /** Between two messages of a pod to itself. */
  readonly beatMs: number;
  /** A listening connection over which nothing has come for so long, not even the pod's own message, is dead. */
  readonly silenceMs: number;
  /** A pod that has heard nothing for so long, while Redis says that others listen, is deaf. */
  readonly deafMs: number;
  /**
   * How long nothing is published after a new connection: other pods lost theirs at the same time, and need less time than
   * this to listen again.
   */
  readonly settleMs: number;
}

export const BUS_TIMING: BusTiming = { beatMs: 1_000, silenceMs: 4_000, deafMs: 15_000, settleMs: 1_500 };

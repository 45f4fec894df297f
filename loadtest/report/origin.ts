import type { Machine } from './report.ts';

/** Where figures come from: on every file of results, whatever else it holds. */
export interface Origin {
  /** ISO 8601, UTC. */
  readonly created: string;
  readonly commit: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly commandLine: string;
}

import { median } from '../statistics.ts';
import { collectYoung } from './allocation.ts';

/** Stages of one path. In a chain, each stage does the work of the one before it, and more. */
export interface StageCase {
  readonly name: string;
  readonly unit: string;
  /**
   * @param contains only stages whose names contain it are measured: to profile one of them alone
   * @param rounds undefined: the number that suits the stages
   */
  measure(contains: string, rounds: number | undefined): Promise<StageMeasurement[]>;
}

export interface StageMeasurement {
  readonly name: string;
  /** CPU of this process for one unit: the median of the rounds. */
  readonly stageNs: number;
  /** CPU that the stage adds to the one before it; null for the first stage, and if stages are no chain. */
  readonly addedNs: number | null;
}

/**
 * Measures `rounds` rounds, after `warmUp` rounds that do not count.
 *
 * @param prepare makes the input of one round, while the clock stands still; its result does the round, and resolves
 *   when no work on it is under way any more. A round pays for the collection of its own garbage only
 * @param units the number of units in a round
 * @returns ns of CPU for each unit: the median of the rounds
 */
export async function cpuOfRounds(
  prepare: () => () => Promise<void>,
  units: number,
  rounds: number,
  warmUp: number,
): Promise<number> {
  const times: number[] = [];
  for (let round = -warmUp; round < rounds; round += 1) {
    const run = prepare();
    collectYoung();
    const begun = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(begun);
    if (round >= 0) times.push(((user + system) * 1_000) / units);
  }
  return median(times);
}

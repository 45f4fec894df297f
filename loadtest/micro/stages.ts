import { median } from '../statistics.ts';

/** Stages of one way. Those of a chain each do what the one before does, and more. */
export interface StageCase {
  readonly name: string;
  readonly unit: string;
  /**
   * @param contains only stages whose names contain it are measured: to profile one alone
   * @param rounds undefined: as many as the stages are made for
   */
  measure(contains: string, rounds: number | undefined): Promise<StageMeasurement[]>;
}

export interface StageMeasurement {
  readonly name: string;
  /** CPU of this process for one unit: the median of the rounds. */
  readonly stageNs: number;
  /** What the stage adds to the one before; null for the first, and where stages do not build on each other. */
  readonly addedNs: number | null;
}

/**
 * The median of `rounds` rounds after `warmUp` ones that do not count.
 *
 * @param prepare makes what one round takes, while the clock stands still; what it returns does the round, and resolves
 *   when nothing of it is under way any more
 * @param units how many a round is
 * @returns ns of CPU for each unit
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
    const begun = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(begun);
    if (round >= 0) times.push(((user + system) * 1_000) / units);
  }
  return median(times);
}

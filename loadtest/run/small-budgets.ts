import { atMost, besideStock, NO_FAULTS, type Budget } from '../report/budgets.ts';
import { FIGURES } from '../report/figures.ts';

const always = { unfit: () => undefined };

/**
 * Budgets that 500 sockets on a busy machine can show. Each limit is a measured value, noted in the commit that set it,
 * plus a third for noise. The fixed costs of a run weigh eight times as much here as with 4,000 sockets.
 */
export const SMALL_BUDGETS: readonly Budget[] = [
  { ...besideStock(FIGURES.cpuPerDeliverySingle, 1.5), ...always },
  { ...besideStock(FIGURES.cpuPerDeliveryFlood, 20), ...always },
  { ...besideStock(FIGURES.residentPerSocket, 1.5), ...always },
  { ...atMost(FIGURES.promisesPerDelivery, 0.8), ...always },
  { ...atMost(FIGURES.executionsPerEvent, 1), ...always },
  NO_FAULTS,
];

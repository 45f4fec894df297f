import path from 'node:path';
import { stockEnvironment } from '../stock/stock-target.ts';
import type { Target } from '../target.ts';
import { STEPS } from './ladder-steps.ts';

/** Each step as a server under test, in order. */
export const ladderTargets: readonly Target[] = STEPS.map(({ name }) => ({
  name,
  program: [path.join(import.meta.dirname, 'ladder-main.js'), name],
  environment: stockEnvironment,
}));

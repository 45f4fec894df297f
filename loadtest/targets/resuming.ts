import { sluice } from './sluice.ts';
import type { Target } from './target.ts';

/** Sluice with a history of the load test's events, and clients that resume. */
export const resuming: Target = {
  ...sluice,
  name: 'sluice, resuming',
  load: (load) => ({ ...load, graph: 'kept', resumes: true }),
};

import { sluice } from './sluice.ts';
import type { Target } from './target.ts';

/** Sluice, where the events of the load test are kept, and its clients resume. */
export const resuming: Target = {
  ...sluice,
  name: 'sluice, resuming',
  load: (load) => ({ ...load, graph: 'kept', resumes: true }),
};

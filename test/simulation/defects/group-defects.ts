import { replacing } from './changed-connection.ts';
import type { Defect } from './defect.ts';

/** Defects that show when a topic is deleted, or a pod of another environment joins the consumer group. */
export const GROUP_DEFECTS: Readonly<Record<string, Defect>> = {
  'no topic is consumed while one is missing': {
    driver: (real) =>
      replacing(real, {
        missingTopics: async (wanted) => ((await real.missingTopics(wanted)).length > 0 ? wanted : []),
      }),
  },
  'a group of another bus is joined': {
    driver: (real) =>
      replacing(real, {
        describeGroup: async (...asked) => ({ ...(await real.describeGroup(...asked)), texts: [] }),
      }),
  },
};

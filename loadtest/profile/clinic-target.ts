import { sluice } from '../targets/sluice.ts';
import type { Target } from '../targets/target.ts';
import type { Tool } from './profile-options.ts';

/** After the gateway has ended, clinic reads its records: on a slow machine, this takes minutes. */
const REPORT_MS = 300_000;

/** Returns the gateway as a target that clinic starts. */
export function underClinic(clinic: string, tool: Tool, folder: string): Target {
  return {
    name: `clinic ${tool}`,
    // Clinic runs no program but one called node.
    program: [clinic, tool, '--open=false', '--dest', folder, '--', 'node', ...sluice.program],
    environment: (wiring) => ({
      ...sluice.environment(wiring),
      // Clinic asks whether it may report its use; without a terminal, it would do nothing and end with 0.
      NO_INSIGHT: '1',
    }),
    wrapper: { endsWithinMs: REPORT_MS },
  };
}

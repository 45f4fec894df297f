import { sluice } from '../targets/sluice.ts';
import type { Target } from '../targets/target.ts';
import type { Tool } from './profile-options.ts';

/** Clinic reads what it has recorded after the gateway has ended: much, on a slow machine. */
const REPORT_MS = 300_000;

/** The gateway, started by clinic. */
export function underClinic(clinic: string, tool: Tool, folder: string): Target {
  return {
    name: `clinic ${tool}`,
    // It takes nothing but a program called node.
    program: [clinic, tool, '--open=false', '--dest', folder, '--', 'node', ...sluice.program],
    environment: (wiring) => ({
      ...sluice.environment(wiring),
      // It asks whether it may report its use; without a terminal to ask, it would do nothing and end with 0.
      NO_INSIGHT: '1',
    }),
    wrapper: { endsWithinMs: REPORT_MS },
  };
}

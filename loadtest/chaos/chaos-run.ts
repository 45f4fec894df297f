import type { Scope } from '../../test/helpers/scope.ts';
import type { ClientReport } from './client-account.ts';
import { SCENARIOS, type ScenarioName } from './scenarios.ts';
import { describeFailures } from './verdict.ts';
import { passes, World, type Deployment, type Scenario, type Size } from './world.ts';

interface ChaosOutcome {
  readonly reports: readonly ClientReport[];
  /** Events that have been sent on each topic. */
  readonly sent: number;
  /** How the promise was broken, one line for each failure; empty: it was kept. */
  readonly failures: readonly string[];
  /** The warnings and errors in the logs of the pods. */
  readonly complaints: readonly string[];
}

const BY_DEFAULT: Deployment = { redis: 'single', settings: {} };

/** Runs one scenario. All that it starts ends with the scope. */
export async function runScenario(
  scope: Scope,
  name: ScenarioName,
  size: Size,
  say: (text: string) => void,
  deployment = BY_DEFAULT,
): Promise<ChaosOutcome> {
  const scenario: Scenario = SCENARIOS[name];
  const world = await World.start(scope, scenario, size, deployment, say);
  say(`${size.clients} clients are subscribed: ${scenario.summary}`);
  const others = await scenario.happen(world);
  await passes(size.calmSeconds);
  const reports = await world.close();
  const left = await world.leave();
  const sent = Object.values(world.sent).reduce((sum, count) => sum + count, 0);
  return {
    reports,
    sent,
    failures: [...(others ?? []), ...left, ...describeFailures(reports, scenario.promised)],
    complaints: world.pods.complaints(),
  };
}

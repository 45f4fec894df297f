import { loadConfig } from '../../../src/config/config.ts';
import { ofContainers, titleOf, type Manifest } from './manifests.ts';

/** What Kubernetes gives a pod that says nothing. */
const DEFAULT_SECONDS = 30;

/** A pod that is killed in the middle of its drain cuts its clients off all at once. */
export const drainFaults = (manifests: readonly Manifest[]): string[] =>
  ofContainers(manifests, (gateway, _container, environment) => {
    const { terminationGracePeriodSeconds: given = DEFAULT_SECONDS } = gateway.spec.template.spec;
    const seconds = secondsToDrain(environment);
    return seconds < given
      ? []
      : [
          `${titleOf(gateway)}: expected terminationGracePeriodSeconds of more than ${seconds}, as DRAIN_DELAY_SECONDS and DRAIN_SECONDS take that long, got ${given}`,
        ];
  });

/** @param environment others of its settings may be wrong */
function secondsToDrain({ DRAIN_DELAY_SECONDS, DRAIN_SECONDS }: Readonly<Record<string, string>>): number {
  const given = Object.entries({ DRAIN_DELAY_SECONDS, DRAIN_SECONDS }).filter(
    ([, value]) => value !== undefined,
  );
  try {
    const config = loadConfig(Object.fromEntries(given) as Record<string, string>);
    return config.DRAIN_DELAY_SECONDS + config.DRAIN_SECONDS;
  } catch {
    return 0; // A fault of the settings.
  }
}

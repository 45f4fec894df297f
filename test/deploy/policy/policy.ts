import { busNotes } from './bus.ts';
import { drainFaults } from './drain.ts';
import { exampleValues } from './example-values.ts';
import { fileNotes } from './files.ts';
import { GATEWAY_LABEL, gatewaysOf, ofContainers, titleOf, type Manifest } from './manifests.ts';
import { networkFaults } from './network.ts';
import { podFaults } from './pods.ts';
import { rolloutFaults, rolloutNotes } from './rollout.ts';
import { secretFaults } from './secrets.ts';
import { settingFaults, settingWarnings } from './settings.ts';

export interface Verdict {
  /** What must not be applied, each a line. */
  readonly faults: readonly string[];
  /** What should be known, each a line. */
  readonly notes: readonly string[];
}

/**
 * Checks manifests by all rules.
 *
 * @param examples whether they are examples, in which example values are no faults
 */
export function judge(manifests: readonly Manifest[], { examples = false } = {}): Verdict {
  const left = exampleValues(manifests);
  const isMissing = gatewaysOf(manifests).length === 0;
  const said = (about: (environment: Record<string, string>) => string[]): string[] =>
    ofContainers(manifests, (gateway, _container, environment) =>
      about(environment).map((line) => `${titleOf(gateway)}: ${line}`),
    );
  return {
    faults: [
      ...(isMissing ? [`expected pods with the label ${GATEWAY_LABEL}: sluice, found none`] : []),
      ...(examples ? [] : left),
      ...said(settingFaults),
      ...podFaults(manifests),
      ...drainFaults(manifests),
      ...secretFaults(manifests),
      ...rolloutFaults(manifests),
      ...networkFaults(manifests),
    ],
    notes: [
      ...(examples ? left.map((line) => `${line}; this is an example`) : []),
      ...said(settingWarnings),
      ...busNotes(manifests),
      ...fileNotes(manifests),
      ...rolloutNotes(manifests),
    ],
  };
}

import { BlockList, isIP } from 'node:net';
import { exampleValue } from '../../../src/config/config.ts';
import type { LabelSelector } from './manifests.ts';

/** To or from whom a rule of a network policy is. */
export interface Peer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
}

const NAMESPACE = 'kubernetes.io/metadata.name';

/** How faults name a peer. */
export function peerTitle({ ipBlock, podSelector, namespaceSelector }: Peer): string {
  if (ipBlock !== undefined) return ipBlock.cidr;
  const pods = `pods ${labelsTitle(podSelector)}`;
  return namespaceSelector === undefined
    ? `${pods} of the namespace`
    : `${pods} of namespaces ${labelsTitle(namespaceSelector)}`;
}

function labelsTitle({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): string {
  const labels = [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(({ key, operator, values = [] }) => `${key} ${operator} ${values.join('|')}`),
  ];
  return labels.length === 0 ? '(all)' : labels.join(', ');
}

/**
 * Whether a host may be among the peer's, as far as a name tells: a name of the cluster is its pods, by the namespace in
 * it; any other one is an address outside, which a name does not tell; and an example's value is anything.
 *
 * @param own namespace of the pod
 */
export function mayHave(peer: Peer, host: string, own: string | undefined): boolean {
  if (exampleValue(host.toUpperCase()) !== undefined) return true;
  if (peer.ipBlock !== undefined) {
    if (isIP(host) === 0) return !isOfCluster(host);
    return exampleValue(peer.ipBlock.cidr) !== undefined || hasAddress(peer.ipBlock, host);
  }
  if (isIP(host) !== 0) return false;
  const namespaces = namespacesOf(host, own);
  return namespaces !== undefined && isOfNamespace(peer.namespaceSelector, namespaces, own);
}

/** Whether an ipBlock has the address. */
export function hasAddress({ cidr, except = [] }: NonNullable<Peer['ipBlock']>, address: string): boolean {
  const isIn = (network: string): boolean => {
    const [base = '', bits] = network.split('/');
    const family = isIP(base);
    if (family === 0 || family !== isIP(address)) return false;
    const type = family === 4 ? 'ipv4' : 'ipv6';
    const list = new BlockList();
    list.addSubnet(base, Number(bits), type);
    return list.check(address, type);
  };
  return isIn(cidr) && !except.some(isIn);
}

/** `kafka`, `kafka-0.kafka.shop.svc`, but not `kafka.shop`, which may be either. */
const isOfCluster = (host: string): boolean =>
  !host.includes('.') || /\.svc(\.cluster\.local)?\.?$/.test(host);

/** The namespaces that a name may be of; undefined where it is none of the cluster. */
function namespacesOf(host: string, own: string | undefined): readonly (string | undefined)[] | undefined {
  const [, service] = /^(.+)\.svc(?:\.cluster\.local)?\.?$/.exec(host) ?? [];
  if (service !== undefined) return [service.split('.').at(-1)];
  const labels = host.split('.');
  if (labels.length === 1) return [own];
  // Service and namespace, or pod and service.
  return labels.length === 2 ? [labels[1], own] : undefined;
}

function isOfNamespace(
  selector: LabelSelector | undefined,
  namespaces: readonly (string | undefined)[],
  own: string | undefined,
): boolean {
  if (selector === undefined) return namespaces.includes(own);
  const names = namesOf(selector);
  // A namespace that is not known here: whoever applies the manifests gives it.
  return names === undefined || namespaces.some((name) => name === undefined || names.includes(name));
}

/** The namespaces that a selector names; undefined where it goes by other labels, or takes all. */
function namesOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): readonly string[] | undefined {
  const name = matchLabels[NAMESPACE];
  if (name !== undefined) return [name];
  return matchExpressions.find(({ key, operator }) => key === NAMESPACE && operator === 'In')?.values;
}

import { isIP } from 'node:net';
import { SETTINGS } from '../../../src/config/settings.ts';
import { declarationsOf } from './declarations.ts';
import { destinationsOf, type Destination } from './destinations.ts';
import { ofContainers, titleOf, type Container, type Manifest } from './manifests.ts';
import { closes, openingsOf, policiesFor, type Opening } from './openings.ts';
import { hasAddress, mayHave, peerTitle, type Peer } from './peers.ts';

/** Traffic that the settings want. */
interface Wanted {
  /** How faults name it. */
  readonly title: string;
  readonly protocol: string;
  readonly port: number;
  readonly isFor: (peer: Peer) => boolean;
}

/** Addresses of private networks, of the node and of its credentials: no part of "the internet". */
const PRIVATE = ['10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254', 'fd00::1', 'fe80::1'];

/** From so few bits on an ipBlock is one for the internet, and not for some network of one's own. */
const INTERNET_BITS = 7;

/** Network policies let through what the settings use, and nothing else. */
export const networkFaults = (manifests: readonly Manifest[]): string[] =>
  ofContainers(manifests, (gateway, container, environment) => {
    const policies = policiesFor(manifests, gateway);
    const destinations = destinationsOf(environment);
    const podPorts = new Map(policies.flatMap((policy) => [...declarationsOf(policy).podPorts]));
    return [
      ...portFaults(environment, gateway, container),
      ...policies.flatMap((policy) => declarationFaults(policy, destinations)),
      ...directionFaults(policies, 'ingress', inward(environment)),
      ...directionFaults(policies, 'egress', outward(destinations, podPorts, gateway.metadata.namespace)),
    ].map((fault) => (fault.startsWith('NetworkPolicy') ? fault : `${titleOf(gateway)}: ${fault}`));
  });

/** What was written down for settings and rules that are gone. */
function declarationFaults(policy: Manifest, destinations: readonly Destination[]): string[] {
  const { ports, podPorts, faults } = declarationsOf(policy);
  const { openings } = openingsOf(policy, 'egress');
  const isOpen = (port: number): boolean => openings.some(({ from, to }) => from <= port && port <= to);
  const isUsed = (service: string): boolean =>
    destinations.some(({ host, port }) => `${host}:${port}` === service);
  if (faults.length > 0) return [...faults];
  return [
    ...[...ports]
      .filter((port) => !isOpen(port))
      .map(
        (port) =>
          `${titleOf(policy)}: expected a rule for port ${port}, which its annotation gives a reason for`,
      ),
    ...[...podPorts.keys()]
      .filter((service) => !isUsed(service))
      .map(
        (service) =>
          `${titleOf(policy)}: expected a setting with ${service}, of which its annotation has the pods' port`,
      ),
  ];
}

function directionFaults(
  policies: readonly Manifest[],
  direction: 'ingress' | 'egress',
  wanted: readonly Wanted[],
): string[] {
  if (!policies.some((policy) => closes(policy, direction))) {
    return [`expected a NetworkPolicy for its pods that closes ${direction}, found none in their namespace`];
  }
  const found = policies.map((policy) => openingsOf(policy, direction));
  const openings = found.flatMap((one) => one.openings);
  return [
    ...found.flatMap((one) => one.faults),
    ...wanted
      .filter((want) => !openings.some((opening) => isWithin(want, opening)))
      .map(
        ({ title, protocol, port }) =>
          `${title}: expected ${direction} of ${protocol} ${port} to be open, and it is closed`,
      ),
    ...openings.flatMap((opening) => openingFaults(opening, direction, wanted)),
  ];
}

function openingFaults(opening: Opening, direction: string, wanted: readonly Wanted[]): string[] {
  const { policy, peer, protocol, from, to, declared } = opening;
  const unused = Array.from({ length: to - from + 1 }, (_, index) => from + index).filter(
    (port) => !declared.has(port) && !wanted.some((want) => want.port === port && isWithin(want, opening)),
  );
  const ports = unused.length > 1 ? `${unused.at(0)} to ${unused.at(-1)}` : unused.at(0);
  const faults: string[] = [];
  if (unused.length > 0) {
    faults.push(
      `${policy}: ${direction} of ${protocol} ${ports} is open for ${peerTitle(peer)}, and no setting uses that`,
    );
  }
  if (direction === 'egress' && isInternet(peer)) {
    const reached = PRIVATE.filter((address) => hasAddress(peer.ipBlock ?? { cidr: '' }, address));
    if (reached.length > 0) {
      faults.push(
        `${policy}: expected private networks among what ${peer.ipBlock?.cidr} leaves out (except), got none with ${reached.join(', ')}`,
      );
    }
  }
  return faults;
}

const isInternet = ({ ipBlock }: Peer): boolean =>
  Number(ipBlock?.cidr.split('/')[1] ?? NaN) <= INTERNET_BITS;

const isWithin = (want: Wanted, { peer, protocol, from, to }: Opening): boolean =>
  protocol === want.protocol && from <= want.port && want.port <= to && want.isFor(peer);

/** Browsers may come from everywhere, Prometheus from some pods or network only. */
const inward = (environment: Readonly<Record<string, string>>): Wanted[] => [
  { title: 'PORT', protocol: 'TCP', port: portOf('PORT', environment), isFor: () => true },
  { title: 'ADMIN_PORT', protocol: 'TCP', port: portOf('ADMIN_PORT', environment), isFor: isSome },
];

/** @param podPorts by host:port of a Service, where that of its pods is another one */
function outward(
  destinations: readonly Destination[],
  podPorts: ReadonlyMap<string, number>,
  namespace: string | undefined,
): Wanted[] {
  const names = destinations.some(({ host }) => isIP(host) === 0) ? ['UDP', 'TCP'] : [];
  return [
    ...destinations.map(({ variable, host, port }) => ({
      title: `${variable} (${host}:${port})`,
      protocol: 'TCP',
      port: podPorts.get(`${host}:${port}`) ?? port,
      isFor: (peer: Peer) => mayHave(peer, host, namespace),
    })),
    ...names.map((protocol) => ({ title: 'names of hosts (DNS)', protocol, port: 53, isFor: isResolver })),
  ];
}

/** Pods of a namespace, or one address: to all others, names are a way out for data. */
const isResolver = (peer: Peer): boolean =>
  peer.ipBlock === undefined ? isSome(peer) : /\/(32|128)$/.test(peer.ipBlock.cidr);

/** Not all pods of all namespaces, and not the internet. */
function isSome(peer: Peer): boolean {
  if (peer.ipBlock !== undefined) return !isInternet(peer);
  return [peer.podSelector, peer.namespaceSelector].some(
    (selector) => selector !== undefined && Object.keys(selector).length > 0,
  );
}

/** Services and probes go by the container's ports. */
function portFaults(
  environment: Readonly<Record<string, string>>,
  gateway: Manifest,
  container: Container,
): string[] {
  const ports: readonly { containerPort: number }[] = container.ports ?? [];
  return (['PORT', 'ADMIN_PORT'] as const)
    .map((name) => ({ name, port: portOf(name, environment) }))
    .filter(({ port }) => !ports.some(({ containerPort }) => containerPort === port))
    .map(({ name, port }) => `${name}: expected a containerPort ${port}, found none in ${gateway.kind}`);
}

const portOf = (name: 'PORT' | 'ADMIN_PORT', environment: Readonly<Record<string, string>>): number =>
  Number(environment[name] || SETTINGS[name].default);

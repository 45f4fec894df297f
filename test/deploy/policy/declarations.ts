import { titleOf, type Manifest } from './manifests.ts';

/** What a network policy says in annotations, since no setting does. */
export interface Declarations {
  /** Ports that only servers tell: `6379 Redis itself, whose address Sentinel tells`, one a line. */
  readonly ports: ReadonlySet<number>;
  /** By host:port of a Service, the port of the pods behind it: `listings.shop.svc:80 8080`, one a line. */
  readonly podPorts: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
}

const PORTS = 'sluice/ports-without-setting';
const POD_PORTS = 'sluice/pod-ports';

export function declarationsOf(policy: Manifest): Declarations {
  const faults: string[] = [];
  const ports = linesOf(policy, PORTS).map((line) => {
    const [, port] = /^(\d+) \S/.exec(line) ?? [];
    if (port === undefined)
      faults.push(`${titleOf(policy)}: expected a port and a reason in ${PORTS}, got ${line}`);
    return Number(port);
  });
  const podPorts = linesOf(policy, POD_PORTS).map((line): [string, number] => {
    const [, service = '', port] = /^(\S+:\d+) (\d+)$/.exec(line) ?? [];
    if (port === undefined) {
      faults.push(
        `${titleOf(policy)}: expected host:port and the port of its pods in ${POD_PORTS}, got ${line}`,
      );
    }
    return [service, Number(port)];
  });
  return { ports: new Set(ports), podPorts: new Map(podPorts), faults };
}

const linesOf = ({ metadata }: Manifest, annotation: string): string[] =>
  (metadata.annotations?.[annotation] ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

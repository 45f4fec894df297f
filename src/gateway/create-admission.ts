import { AddressCaps } from '../server/address-caps.ts';
import type { PressureLevel } from '../pressure/pressure-level.ts';
import { Admission, type AdmissionCheck, type AdmissionFault } from '../server/admission.ts';
import { ClientAddresses, TrustedProxies } from '../server/client-address.ts';
import type { HttpServerOptions } from '../server/http-server.ts';
import { PodCaps } from '../server/pod-caps.ts';
import { RequestClients } from '../server/request-clients.ts';
import type { Basics } from './basics.ts';
import { shareOf } from './pod-share.ts';

type AdmissionBasics = Pick<Basics, 'config' | 'processes' | 'pressure' | 'budget' | 'metrics'>;

/** The time of a monotonic clock, ms. */
const now = (): number => performance.now();

/** Creates the parts that decide on new WebSockets. A further reason to refuse them is one more check. */
export function createAdmission(
  basics: AdmissionBasics,
  connections: { readonly size: number; readonly handshakes: { readonly size: number } },
  relocation: AdmissionCheck,
) {
  const { config, processes, pressure, metrics } = basics;
  const pod = new PodCaps({
    connections,
    maxConnections: shareOf(config.MAX_CONNECTIONS, processes),
    maxHandshakes: shareOf(config.MAX_HANDSHAKES, processes),
    connectionsPerSecond: config.CONNECTIONS_PER_SECOND / processes,
    now,
  });
  const networks = config.TRUSTED_PROXIES ?? (config.PROXY_PROTOCOL ? [] : undefined);
  const proxies = networks && new TrustedProxies(networks);
  const clientAddresses = new ClientAddresses(proxies);
  const clients = new RequestClients({
    addresses: clientAddresses,
    requestsPerSecond: config.SUBSCRIBES_PER_SECOND,
    now,
  });
  const addresses = new AddressCaps({
    addresses: clientAddresses,
    maxConnections: shareOf(config.MAX_CONNECTIONS_PER_ADDRESS, processes),
    connectionsPerSecond: config.CONNECTIONS_PER_SECOND_PER_ADDRESS / processes,
    now,
  });
  const admission = new Admission({
    checks: [addresses, pod, { fault: () => pressureFault(pressure) }, relocation],
    refused: (reason) => metrics.refused(reason),
    random: Math.random,
  });
  return { admission, addresses, clients, server: serverCaps(basics, proxies) };
}

function pressureFault(pressure: PressureLevel): AdmissionFault | undefined {
  const message = pressure.notReady();
  return message === undefined ? undefined : { reason: 'pressure', message };
}

/** Sockets for each WebSocket, as plain requests also need connections, and keep them for a while. */
const SOCKETS_PER_WEBSOCKET = 1.25;

function serverCaps(
  { config, processes, budget, metrics }: AdmissionBasics,
  proxies: TrustedProxies | undefined,
): Pick<HttpServerOptions, 'maxSockets' | 'dropped' | 'pipelined' | 'proxyProtocol'> {
  const caps = {
    maxSockets: shareOf(config.MAX_CONNECTIONS * SOCKETS_PER_WEBSOCKET, processes),
    dropped: () => metrics.refused('connections'),
    pipelined: {
      most: shareOf(config.MAX_HANDSHAKES, processes),
      unread: budget.responses,
      refused: () => metrics.refused('pipelined'),
    },
  };
  if (!config.PROXY_PROTOCOL) return caps;
  const isTrusted =
    config.TRUSTED_PROXIES === undefined ? () => true : (peer: string) => proxies?.has(peer) === true;
  return { ...caps, proxyProtocol: { isTrusted, refused: () => metrics.refused('proxy_header') } };
}

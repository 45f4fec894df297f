import { isIP } from 'node:net';

/** A server that a variable leads to. */
export interface Destination {
  readonly variable: string;
  readonly host: string;
  readonly port: number;
}

type Environment = Readonly<Record<string, string>>;

/** Settings that are lists of host:port. */
const SERVERS: ReadonlySet<string> = new Set(['KAFKA_BROKERS', 'REDIS_SENTINELS', 'REDIS_CLUSTER']);

/** Variables whose URLs are names only, to which no pod connects. */
const NO_ADDRESS = /^ORIGINS$|_(ISSUER|AUDIENCE|SCOPE)$/;

const STANDARD_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'ws:': 80,
  'https:': 443,
  'wss:': 443,
  'redis:': 6379,
  'rediss:': 6379,
};

/**
 * The servers that a gateway with these variables connects to: those of settings, and those of any other URL, as graphs
 * have the addresses of back ends from variables. Its own machine is not among them.
 */
export function destinationsOf(environment: Environment): Destination[] {
  return Object.entries(environment)
    .filter(
      ([variable, value]) => value !== '' && !NO_ADDRESS.test(variable) && isInUse(variable, environment),
    )
    .flatMap(([variable, value]) =>
      value
        .split(',')
        .map((item) => item.trim())
        .flatMap((item) => (SERVERS.has(variable) ? server(item) : url(item)))
        .map(({ host, port }) => ({ variable, host, port })),
    )
    .filter(({ host }) => !isOwnMachine(host));
}

/** Tells whether the gateway's tracing would read the variable. */
function isInUse(variable: string, environment: Environment): boolean {
  if (!variable.startsWith('OTEL_')) return true;
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false;
  if ((environment['OTEL_TRACES_EXPORTER'] ?? 'otlp') !== 'otlp') return false;
  const isReplaced = (environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? '') !== '';
  return variable !== 'OTEL_EXPORTER_OTLP_ENDPOINT' || !isReplaced;
}

function server(item: string): { host: string; port: number }[] {
  const [, host, port] = /^\[?(.+?)\]?:(\d+)$/.exec(item) ?? [];
  return host === undefined ? [] : [{ host, port: Number(port) }];
}

function url(item: string): { host: string; port: number }[] {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(item) || !URL.canParse(item)) return [];
  const { hostname, port, protocol } = new URL(item);
  const number = port === '' ? STANDARD_PORTS[protocol] : Number(port);
  if (hostname === '' || number === undefined) return [];
  return [{ host: hostname.replace(/^\[(.*)\]$/, '$1'), port: number }];
}

function isOwnMachine(host: string): boolean {
  return host === 'localhost' || (isIP(host) === 4 && host.startsWith('127.')) || host === '::1';
}

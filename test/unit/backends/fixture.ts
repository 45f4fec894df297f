import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import type { BackendDefinition } from '../../../src/graph/api/backend-definition.ts';
import { BackendError, type BackendErrorCode } from '../../../src/backends/error.ts';
import { Backends } from '../../../src/backends/backends.ts';
import type { Backend } from '../../../src/graph/api/backend.ts';
import type { JsonValue } from '../../../src/events/event.ts';
import { ownBytes } from '../../../src/support/byte-budget.ts';
import { createLog } from '../../../src/log.ts';
import type { SpanPlace } from '../../../src/tracing/span.ts';
import { Metrics } from '../../../src/metrics.ts';
import { serveHttp } from '../../helpers/local-server.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** A request as a back end got it. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Handler = (response: ServerResponse, request: Received) => unknown;

/** An HTTP server on loopback; `requests` holds all requests, `events` has an event for each. */
export async function startServer(t: TestContext, handler: Handler) {
  const requests: Received[] = [];
  const events = new EventEmitter();
  const sockets = new Set<object>();
  const origin = await serveHttp(t, async (request, response) => {
    sockets.add(request.socket);
    const { method = '', url = '', headers } = request;
    const received = { method, url, headers, body: await text(request) };
    requests.push(received);
    handler(response, received);
    events.emit('request', received);
  });
  return { url: origin, requests, events, connections: () => sockets.size };
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export const empty: Handler = (response) => json(response, {});
export const silence: Handler = () => undefined;

/** Without a body; with the last status again and again. */
export function statuses(...all: readonly number[]): Handler {
  const left = [...all];
  return (response) => response.writeHead((left.length > 1 ? left.shift() : left[0]) ?? 500).end();
}

interface Call {
  readonly viewer?: () => unknown;
  readonly signal?: AbortSignal;
  readonly span?: SpanPlace | undefined;
}

/** Back ends with one of them, `api`, as an execution sees it. */
export function setUp(t: TestContext, definition: BackendDefinition, answers = ownBytes(2 ** 24)) {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const transformKeys = { SNAKE: markKeys, KEEP: (value: JsonValue) => value };
  const backends = new Backends({ api: definition }, { clock, metrics, log, answers, transformKeys });
  t.after(() => backends.close());
  const bind = ({ viewer = () => ({}), signal, span }: Call = {}): Backend => {
    const bound = backends.bind({ viewer, signal: () => signal, span: () => span })['api'];
    assert.ok(bound);
    return bound;
  };
  return { backends, clock, metrics, lines, bind, api: bind() };
}

type Settings = Omit<BackendDefinition, 'url'>;

/** {@link setUp} with a server that answers like this. */
export async function backend(t: TestContext, handler: Handler, settings: Settings = {}) {
  const server = await startServer(t, handler);
  return { server, ...setUp(t, { url: server.url, ...settings }) };
}

/** {@link setUp} with a server that takes connections, but never answers the TLS handshake. */
export async function silentTls(t: TestContext, settings: Settings) {
  const server = createTcpServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  server.on('connection', (socket) => t.after(() => socket.destroy()));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, ...setUp(t, { url: `https://127.0.0.1:${port}`, ...settings }) };
}

/** Stands for snake_case: top-level keys get an underscore in front, and the key `forbidden` is refused. */
function markKeys(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if ('forbidden' in value) throw new Error('expected no key forbidden, got one');
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [`_${key}`, child]));
}

/** The BackendError that a call rejects with. */
export async function failure(call: Promise<unknown>, code: BackendErrorCode): Promise<BackendError> {
  const error = await call.then(
    (value) => assert.fail(`expected ${code}, got ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof BackendError, `expected a BackendError, got ${String(error)}`);
  assert.equal(error.code, code);
  return error;
}

/** A metric's value for some labels; 0 if it has none yet. */
export async function metric(
  metrics: Metrics,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<number> {
  const { values } = (await metrics.registry.getSingleMetric(`sluice_${name}`)?.get()) ?? { values: [] };
  const found = values.find((value) =>
    Object.entries(labels).every(
      ([label, expected]) => (value.labels as Record<string, unknown>)[label] === expected,
    ),
  );
  return found?.value ?? 0;
}

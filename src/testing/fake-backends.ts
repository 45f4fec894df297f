import { responseKeys } from '../backends/response-keys.ts';
import type { JsonValue } from '../events/event.ts';
import type { BackendDefinition } from '../graph/api/backend-definition.ts';
import type { Backend, RequestOptions } from '../graph/api/backend.ts';

/** One call of a back end, as a resolver makes it. */
export interface FakeCall {
  readonly method: 'GET' | 'DELETE' | 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly body: unknown;
  readonly options: RequestOptions;
}

/** Answers a call in place of a back end: the response's JSON, or a promise of it. What it throws, the resolver gets. */
export type FakeBackend = (call: FakeCall) => unknown;

/**
 * `ctx.backends` of a test: the names that the graph defines, and the keys in responses as its definitions say.
 *
 * @throws Error for a fake of a back end that the graph does not define
 */
export function fakeBackends(
  definitions: Readonly<Record<string, BackendDefinition>>,
  fakes: Readonly<Record<string, FakeBackend>>,
): Readonly<Record<string, Backend>> {
  const unknown = Object.keys(fakes).filter((name) => !Object.hasOwn(definitions, name));
  if (unknown.length > 0) {
    const known = Object.keys(definitions).join(', ') || 'none';
    throw new Error(
      `expected fakes of back ends that the graph defines (${known}), got ${unknown.join(', ')}`,
    );
  }
  const transforms = responseKeys();
  const backends = Object.entries(definitions).map(([name, { keys = 'SNAKE' }]) => {
    const fake = fakes[name] ?? missing(name);
    return [name, Object.freeze(backendOf(fake, transforms[keys]))] as const;
  });
  // Without Object's prototype, as the gateway's own.
  return Object.freeze(Object.assign(Object.create(null) as object, Object.fromEntries(backends)));
}

function missing(name: string): FakeBackend {
  return ({ method, path }) => {
    throw new Error(`expected a fake of the back end ${name} for ${method} ${path}, got none`);
  };
}

function backendOf(fake: FakeBackend, transform: (response: JsonValue) => JsonValue): Backend {
  const call =
    (method: FakeCall['method']) =>
    async <T>(path: string, body?: unknown, options: RequestOptions = {}): Promise<T> => {
      return transform(asJson(await fake({ method, path, body, options }))) as T;
    };
  const withoutBody =
    (method: FakeCall['method']) =>
    <T>(path: string, options?: RequestOptions): Promise<T> =>
      call(method)(path, undefined, options);
  return {
    get: withoutBody('GET'),
    delete: withoutBody('DELETE'),
    post: call('POST'),
    put: call('PUT'),
    patch: call('PATCH'),
  };
}

/** A copy that has come as JSON: a resolver may not see the test's own objects. Undefined is null, as an empty response is. */
function asJson(value: unknown): JsonValue {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as JsonValue);
}

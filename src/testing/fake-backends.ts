import { isNativeError } from 'node:util/types';
import { BackendError, isBackendErrorCode } from '../backends/error.ts';
import { responseKeys } from '../backends/response-keys.ts';
import type { JsonValue, KeyStyle } from '../events/event.ts';
import type { BackendDefinition } from '../graph/api/backend-definition.ts';
import type { Backend, RequestOptions } from '../graph/api/backend.ts';
import type { JsonParse } from './json-parse.ts';

/** One call of a back end, as a resolver makes it. */
export interface FakeCall {
  readonly method: 'GET' | 'DELETE' | 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly body: unknown;
  readonly options: RequestOptions;
}

/**
 * Answers a call in place of a back end with the response's JSON, or a promise of it. The resolver gets the error that
 * the fake throws; if its `code` is one of BackendError's, the error becomes a BackendError with its `status`.
 */
export type FakeBackend = (call: FakeCall) => unknown;

/**
 * Makes `ctx.backends` of a test: it has the graph's names, and changes keys in responses as its definitions say.
 *
 * @param parse makes the calls that the fakes get
 * @throws Error for a fake of a back end that the graph does not define
 */
export function fakeBackends(
  definitions: Readonly<Record<string, BackendDefinition>>,
  fakes: Readonly<Record<string, FakeBackend>>,
  parse: JsonParse,
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
    const answers: FakeBackend = async (call) => {
      try {
        return await fake(asGiven(call, parse));
      } catch (thrown) {
        throw failureOf(thrown, name);
      }
    };
    return [name, Object.freeze(backendOf(answers, (style = keys) => transforms[style]))] as const;
  });
  // The object has no prototype, like the gateway's own.
  return Object.freeze(Object.assign(Object.create(null) as object, Object.fromEntries(backends)));
}

function missing(name: string): FakeBackend {
  return ({ method, path }) => {
    throw new Error(`expected a fake of the back end ${name} for ${method} ${path}, got none`);
  };
}

type Transform = (response: JsonValue) => JsonValue;

function backendOf(fake: FakeBackend, transformOf: (keys: KeyStyle | undefined) => Transform): Backend {
  const call =
    (method: FakeCall['method']) =>
    async <T>(path: string, body?: unknown, options: RequestOptions = {}): Promise<T> => {
      const transform = transformOf(options.keys);
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

/** The call as the fake gets it: the values that would be sent, as objects of the test's context. */
function asGiven({ method, path, body, options }: FakeCall, parse: JsonParse): FakeCall {
  const copy = (value: unknown): unknown => (value === undefined ? undefined : parse(JSON.stringify(value)));
  const call = { method, path, body: copy(body), options: copy(options) as RequestOptions };
  return Object.assign(parse('{}') as object, call);
}

/**
 * The error that the resolver gets. An error with a code of BackendError becomes a BackendError, as the test may have
 * another `sluice` than the graph, or none. An error of another context, which graphql-js would take for no error, is
 * copied into this context.
 */
function failureOf(thrown: unknown, backend: string): unknown {
  if (!isNativeError(thrown) || thrown instanceof BackendError) return thrown;
  const { code, status } = thrown as { readonly code?: unknown; readonly status?: number };
  if (isBackendErrorCode(code)) {
    return new BackendError(code, backend, { cause: thrown, ...(status === undefined ? {} : { status }) });
  }
  if (thrown instanceof Error) return thrown;
  const { name, message, stack } = thrown as Error;
  return Object.assign(new Error(message, { cause: thrown }), { ...(thrown as Error), name, stack });
}

/** Copies by JSON: a resolver must not see the test's own objects. Undefined becomes null, like an empty response. */
function asJson(value: unknown): JsonValue {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as JsonValue);
}

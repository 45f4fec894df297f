import assert from 'node:assert/strict';
import type { GraphQLSchema } from 'graphql';
import { Contexts } from '../../../../src/context/event-scope.ts';
import { Queries } from '../../../../src/context/queries.ts';
import { Executor, type ExecutorOptions } from '../../../../src/executor/executor.ts';
import { OperationAdmission } from '../../../../src/executor/operation-admission.ts';
import { PersistedDocuments } from '../../../../src/executor/persisted-documents.ts';
import { createLog } from '../../../../src/log.ts';
import { Metrics } from '../../../../src/metrics.ts';
import type { RequestHead } from '../../../../src/graph/api/context.ts';
import { ByteBudget, type ByteSource } from '../../../../src/support/byte-budget.ts';
import { FairLimiter } from '../../../../src/support/fair-limiter.ts';
import { Turns } from '../../../../src/support/turns.ts';
import type { HttpClient } from '../../../../src/transports/http/http-client.ts';
import type { HttpResponse } from '../../../../src/transports/http/http-response.ts';
import { RequestBytes, type ReadBody } from '../../../../src/transports/http/request-bytes.ts';
import { HttpTransport, type HttpTransportOptions } from '../../../../src/transports/http/transport.ts';
import { WaitingRequests } from '../../../../src/transports/http/waiting-requests.ts';

/** For requests whose answers are whole: none asks for the results of a subscription. A body may be here already. */
function wholeResponses(options: HttpTransportOptions): {
  respond(
    request: RequestHead,
    body: string | ReadBody | undefined,
    client: HttpClient,
  ): Promise<HttpResponse>;
} {
  const transport = new HttpTransport(options);
  return {
    async respond(request, body, client) {
      const readBody = typeof body === 'string' ? async () => Buffer.from(body) : body;
      const response = await transport.respond(request, readBody, client);
      assert.ok('status' in response);
      return response;
    },
  };
}

export const GRAPHQL_RESPONSE = 'application/graphql-response+json';

const noop = (): void => undefined;

/** @param signal says when it leaves */
export const clientOn = (
  connection: object,
  signal: AbortSignal = new AbortController().signal,
  address?: string,
): HttpClient => ({
  connection,
  address,
  owner: { secondsOfRequest: 0, spentUntil: 0, hold: noop, resume: noop, overrun: noop },
  signal,
});

/** A client that stays. */
export const CLIENT: HttpClient = clientOn({});

/** The head of a request by GET, or by POST if it has a content type. */
export const head = (url: string, headers: Readonly<Record<string, string>> = {}) => ({
  headers,
  url,
  remoteAddress: undefined,
});

export const post = (headers: Readonly<Record<string, string>> = {}) =>
  head('/graphql', { 'content-type': 'application/json', ...headers });

export interface Result {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly locations?: unknown;
    readonly extensions?: { readonly code?: string };
  }[];
}

export const resultOf = ({ body }: HttpResponse): Result => JSON.parse(body ?? 'null') as Result;

export const messageOf = (response: HttpResponse): string => resultOf(response).errors?.[0]?.message ?? '';

/** A source of a budget, all of which one owner may hold. */
export const sourceOf = (bytes: number): ByteSource => new ByteBudget(bytes).source({ least: bytes });

/** Transports of one schema, with persisted documents by id. */
export function transports(
  schema: GraphQLSchema,
  manifest: Readonly<Record<string, string>>,
  limits?: ExecutorOptions['limits'],
) {
  const persisted = PersistedDocuments.load('m.json', JSON.stringify(manifest), () => []);
  const log = createLog('silent');
  const executor = new Executor({ schema, cacheSize: 10, log, ...(limits && { limits }) });
  const contexts = new Contexts({}, { bind: () => ({}) }, Date.now);
  const limiter = new FairLimiter(100);
  const metrics = new Metrics();
  const queries = new Queries({ executor, contexts, limiter, metrics, timeoutMs: 60_000 });
  const transportWith = (options: Partial<HttpTransportOptions> = {}) =>
    wholeResponses({
      admission: new OperationAdmission({ executor, persisted }),
      authenticator: { identify: async () => ({ viewer: {}, token: undefined }) },
      queries,
      turns: new Turns({ msPerSecond: 1_000, now: () => 0 }),
      waiting: new WaitingRequests({ most: 2_000, mostOfConnection: 1_000, metrics }),
      bytes: new RequestBytes({ source: sourceOf(1_000_000), maxPayloadBytes: 65_536, metrics }),
      maxOperations: 10,
      metrics,
      ...options,
    });
  return { executor, persisted, transportWith };
}

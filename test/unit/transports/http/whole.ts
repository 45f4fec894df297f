import assert from 'node:assert/strict';
import type { GraphQLSchema } from 'graphql';
import { Contexts } from '../../../../src/context/event-scope.ts';
import { Queries } from '../../../../src/context/queries.ts';
import { Executor, type ExecutorOptions } from '../../../../src/executor/executor.ts';
import { OperationAdmission } from '../../../../src/executor/operation-admission.ts';
import { PersistedDocuments } from '../../../../src/executor/persisted-documents.ts';
import { createLog } from '../../../../src/log.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { FairLimiter } from '../../../../src/support/fair-limiter.ts';
import { Turns } from '../../../../src/support/turns.ts';
import {
  HttpTransport,
  type HttpResponse,
  type HttpTransportOptions,
} from '../../../../src/transports/http/transport.ts';

/** For requests whose answers are whole: none asks for the results of a subscription. */
function wholeResponses(options: HttpTransportOptions): {
  respond(...request: Parameters<HttpTransport['respond']>): Promise<HttpResponse>;
} {
  const transport = new HttpTransport(options);
  return {
    async respond(...request) {
      const response = await transport.respond(...request);
      assert.ok('status' in response);
      return response;
    },
  };
}

export const GRAPHQL_RESPONSE = 'application/graphql-response+json';

/** A client that stays. */
export const CLIENT: { readonly owner: object; readonly signal: AbortSignal } = {
  owner: {},
  signal: new AbortController().signal,
};

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
  const queries = new Queries({ executor, contexts, limiter, metrics: new Metrics(), timeoutMs: 60_000 });
  const transportWith = (options: Partial<HttpTransportOptions> = {}) =>
    wholeResponses({
      admission: new OperationAdmission({ executor, persisted }),
      authenticator: { identify: async () => ({ viewer: {}, token: undefined }) },
      queries,
      turns: new Turns({ msPerSecond: 1_000, now: () => 0 }),
      maxOperations: 10,
      ...options,
    });
  return { executor, persisted, transportWith };
}

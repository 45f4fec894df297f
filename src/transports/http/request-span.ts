import type { RequestHead } from '../../graph/api/context.ts';
import type { OpenSpan } from '../../tracing/span.ts';
import { givenTrace } from '../../tracing/traceparent.ts';
import type { Tracing } from '../../tracing/tracing.ts';

/**
 * Opens a span while a request is handled: it continues the trace of the client.
 *
 * @param handle gets undefined if the request is not sampled
 */
export async function withRequestSpan<Response extends object>(
  tracing: Tracing | undefined,
  { headers }: Pick<RequestHead, 'headers'>,
  method: string,
  handle: (span: OpenSpan | undefined) => Promise<Response>,
): Promise<Response> {
  const attributes = { 'http.request.method': method, 'http.route': '/graphql' };
  const span = tracing?.begin(`${method} /graphql`, 'SERVER', attributes, givenTrace(headers));
  try {
    const response = await handle(span);
    if ('status' in response) span?.note({ 'http.response.status_code': Number(response.status) });
    return response;
  } finally {
    span?.end();
  }
}

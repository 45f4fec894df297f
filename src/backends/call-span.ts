import type { OpenSpan, SpanPlace } from '../tracing/span.ts';
import type { BackendError } from './error.ts';
import type { BackendSettings } from './settings.ts';

/**
 * Begins the span of one call, waiting and retries included. It leaves out the path, which may hold ids of customers.
 *
 * @param parent undefined: the call is not sampled
 */
export function beginCall(
  parent: SpanPlace | undefined,
  { name, origin }: Pick<BackendSettings, 'name' | 'origin'>,
  method: string,
): OpenSpan | undefined {
  if (parent === undefined) return undefined;
  const { hostname, port, protocol } = new URL(origin);
  return parent.begin(`${method} ${name}`, 'CLIENT', {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    'sluice.backend': name,
  });
}

export function failCall(span: OpenSpan | undefined, { code, status }: BackendError): void {
  span?.fail(code);
  if (status !== undefined) span?.note({ 'http.response.status_code': status });
}

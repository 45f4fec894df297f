/** Reasons why the gateway refuses a connection or an operation, most often caps: values of a metric's label. */
export const REFUSALS = [
  'connections',
  'connections_of_address',
  'connections_of_viewer',
  'connection_rate',
  'connection_rate_of_address',
  'handshakes',
  'proxy_header',
  'pressure',
  'deaf',
  'keys_unavailable',
  'origin',
  'requests',
  'requests_of_connection',
  'request_bytes',
  'pipelined',
  'operations',
  'operations_of_connection',
  'operations_of_viewer',
  'channels',
  'channels_of_connection',
  'documents',
  'variables',
  'variables_of_connection',
  'share_of_client',
] as const;

export type RefusalReason = (typeof REFUSALS)[number];

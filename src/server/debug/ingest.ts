import { sendJson } from '../respond.ts';
import type { Handle } from '../router.ts';

/** What `/debug/ingest` shows of Kafka; undefined if this process does not consume it. */
type IngestInspectable = { inspect(): unknown } | undefined;

/** `/debug/ingest`: each partition of this process, how far it has been consumed, and what delays it. */
export function ingestState(kafka: IngestInspectable): Handle {
  return (_request, response) =>
    sendJson(response, 200, { kafka: kafka?.inspect() ?? null }, { 'cache-control': 'no-store' });
}

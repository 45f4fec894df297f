import type { IHeaders } from '#kafkajs';
import type { RawHeaders } from '../../record.ts';

/**
 * Returns headers as kafkajs can write them: it throws for a header without a value, which other producers write, so such a
 * value becomes empty.
 */
export function producerHeaders(headers: RawHeaders): IHeaders {
  const result: IHeaders = Object.create(null) as IHeaders;
  for (const [name, value] of Object.entries(headers)) {
    result[name] = Array.isArray(value) ? value.map((each) => each ?? '') : (value ?? '');
  }
  return result;
}

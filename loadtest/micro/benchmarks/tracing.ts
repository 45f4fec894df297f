import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { Tracing } from '../../../src/tracing/tracing.ts';
import type { Case } from '../bench.ts';
import { auctionGraph, hubWith } from '../hub-parts.ts';
import { hubVariant, QUERY } from './hub.ts';

/** The headers of an event whose trace is sampled. */
const SAMPLED = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };

/** An exporter that does nothing: the costs of an export depend on the collector. */
const NOWHERE: SpanExporter = {
  export: (_spans, done) => done({ code: 0 }),
  shutdown: () => Promise.resolve(),
};

/** Sends an event to one group of `size` subscribers, as `hub` has it. */
export const cases: readonly Case[] = [1, 1_000].map((size) => ({
  name: `one group of ${size.toLocaleString('en')}`,
  unit: 'event',
  units: 1,
  open: async () => {
    const graph = await auctionGraph();
    const subscribers = Array.from({ length: size }, () => ({ auction_id: 'auction-1' }));
    const spanProcessors = [new BatchSpanProcessor(NOWHERE)];
    const tracer = new BasicTracerProvider({ spanProcessors }).getTracer('sluice');
    const opened = (tracing?: Tracing): Parameters<typeof hubVariant>[2] => {
      return async (take) => {
        const { channels } = await hubWith(graph, QUERY, subscribers, take, { tracing });
        return [...channels.values()];
      };
    };
    const tracing = new Tracing(tracer);
    return {
      variants: [
        await hubVariant('nothing is traced', subscribers, opened()),
        await hubVariant('the event is not sampled', subscribers, opened(tracing)),
        await hubVariant('the event is sampled', subscribers, opened(tracing), SAMPLED),
      ],
    };
  },
}));

import assert from 'node:assert/strict';
import { json } from 'node:stream/consumers';
import { eventually } from './eventually.ts';
import { serveHttp } from './local-server.ts';
import type { Scope } from './scope.ts';

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string };
}

/** A span in OTLP's JSON. */
interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number; readonly message?: string };
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A span in the form that tests compare. */
export interface ReceivedSpan extends Omit<SentSpan, 'attributes'> {
  readonly attributes: Attributes;
  readonly resource: Attributes;
}

/** Receives spans over OTLP/HTTP as JSON, like a collector. */
export class OtlpCollector {
  readonly spans: ReceivedSpan[] = [];
  readonly url: string;

  private constructor(url: string) {
    this.url = url;
  }

  static async start(scope: Scope): Promise<OtlpCollector> {
    const url = await serveHttp(scope, (request, response) => {
      void json(request).then((sent) => {
        if (request.url === '/v1/traces') collector.#add(sent as Sent);
        return response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
    const collector = new OtlpCollector(url);
    return collector;
  }

  /** The settings of a gateway that exports to this collector, without waiting for more spans. */
  get settings(): Record<string, string> {
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: this.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    };
  }

  /** Waits until there are `count` spans of a trace. */
  async until(count: number, traceId?: string): Promise<readonly ReceivedSpan[]> {
    const of = () => this.spans.filter((span) => traceId === undefined || span.traceId === traceId);
    await eventually(() =>
      assert.ok(of().length >= count, `expected ${count} spans, got\n${treeOf(of()).join('\n')}`),
    );
    return of();
  }

  #add({ resourceSpans }: Sent): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        const attributes = asRecord(span.attributes);
        this.spans.push({ ...span, attributes, resource: asRecord(resource.attributes) });
      }
    }
  }
}

/** Returns the names of spans, indented below their parents' names; spans are sorted by name. */
export function treeOf(spans: readonly ReceivedSpan[]): string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const lines = (parent: ReceivedSpan | undefined, depth: number): string[] =>
    spans
      .filter(({ parentSpanId = '' }) =>
        parent === undefined ? !ids.has(parentSpanId) : parentSpanId === parent.spanId,
      )
      .toSorted((one, other) => one.name.localeCompare(other.name))
      .flatMap((span) => [
        `${'  '.repeat(depth)}${span.name} (${span.resource['service.name']})`,
        ...lines(span, depth + 1),
      ]);
  return lines(undefined, 0);
}

function asRecord(attributes: readonly Attribute[]): Attributes {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  );
}

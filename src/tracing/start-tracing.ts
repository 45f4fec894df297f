import { diag, DiagLogLevel, trace, type ProxyTracerProvider } from '@opentelemetry/api';
import type { SpanExporter, SpanProcessor, ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { messageOf, SluiceError } from '../errors.ts';
import type { Log } from '../log.ts';
import { LogThrottle } from '../support/log-throttle.ts';
import { Tracing } from './tracing.ts';

/** Writes each span as a line of the log: the SDK's own exporter for `console` writes several lines, not JSON. */
class LogExporter implements SpanExporter {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  export(spans: ReadableSpan[], done: (result: { code: 0 }) => void): void {
    for (const span of spans) {
      const { name, parentSpanContext, duration, status, attributes } = span;
      const { traceId, spanId } = span.spanContext();
      const [seconds, nanoseconds] = duration;
      const line = {
        trace_id: traceId,
        span_id: spanId,
        parent_id: parentSpanContext?.spanId,
        ms: seconds * 1_000 + nanoseconds / 1_000_000,
        error: status.message,
        attributes,
      };
      this.#log.info(line, name);
    }
    done({ code: 0 });
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}

type Env = Readonly<Record<string, string | undefined>>;

export interface RunningTracing {
  readonly tracing: Tracing;
  /** Exports the spans that have ended. */
  stop(): Promise<void>;
}

/** The name of the tracer, and of the service if no variable names the service. */
const NAME = 'sluice';

/** The SDK repeats a report, such as that a collector is away, every few seconds. */
const LOG_BOUND = { lines: 3, periodMs: 60_000 };

/**
 * Starts the exporters that `OTEL_…` variables ask for. Without any, the SDK is not loaded: it is not among the
 * gateway's dependencies. A tracer registered by code that `node --import` has loaded takes precedence.
 *
 * @returns undefined: no spans are recorded
 * @throws SluiceError MISSING_PACKAGE, or BAD_SETTINGS
 */
export async function startTracing(env: Env, log: Log): Promise<RunningTracing | undefined> {
  if (env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return undefined;
  const registered = registeredTracing();
  if (registered !== undefined) return registered;
  const exporters = exportersIn(env);
  return exporters.length === 0 ? undefined : startSdk(exporters, env, log);
}

/** None unless asked for, although the specification has `otlp` as the default. @throws SluiceError BAD_SETTINGS */
function exportersIn(env: Env): string[] {
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const named = env['OTEL_TRACES_EXPORTER'] || (endpoint ? 'otlp' : 'none');
  const exporters = named.split(',').map((name) => name.trim());
  for (const name of exporters) {
    if (['otlp', 'console', 'none'].includes(name)) continue;
    throw new SluiceError(
      'BAD_SETTINGS',
      `OTEL_TRACES_EXPORTER: expected otlp, console or none, got ${name}`,
    );
  }
  return exporters.filter((name) => name !== 'none');
}

function registeredTracing(): RunningTracing | undefined {
  const provider = trace.getTracerProvider() as Partial<ProxyTracerProvider>;
  const tracer = provider.getDelegateTracer?.(NAME);
  if (tracer === undefined) return undefined;
  return {
    tracing: new Tracing(tracer),
    stop: async () => {
      const delegate = provider.getDelegate?.() as { forceFlush?: () => Promise<void> } | undefined;
      await delegate?.forceFlush?.();
    },
  };
}

async function startSdk(exporters: readonly string[], env: Env, log: Log): Promise<RunningTracing> {
  const [sdk, resources] = await Promise.all([
    load('@opentelemetry/sdk-trace-base', import('@opentelemetry/sdk-trace-base')),
    load('@opentelemetry/resources', import('@opentelemetry/resources')),
  ]);
  // Set first, since the SDK reports variables that it does not understand.
  const ownLog = log.child({ part: 'tracing' });
  logDiagnostics(ownLog);
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources;
  const own = resourceFromAttributes({
    'service.name': NAME,
    'service.instance.id': randomUUID(),
    'host.name': hostname(),
    'process.pid': process.pid,
  });
  const resource = defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
  const spanProcessors: SpanProcessor[] = [];
  for (const name of exporters) {
    const exporter = name === 'console' ? new LogExporter(ownLog) : await otlpExporter(env);
    spanProcessors.push(new sdk.BatchSpanProcessor(exporter));
  }
  const provider = new sdk.BasicTracerProvider({ resource, spanProcessors });
  return {
    tracing: new Tracing(provider.getTracer(NAME)),
    stop: () => provider.shutdown(),
  };
}

async function otlpExporter(env: Env): Promise<SpanExporter> {
  const protocol =
    env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/protobuf';
  switch (protocol) {
    case 'http/protobuf': {
      const name = '@opentelemetry/exporter-trace-otlp-proto';
      const { OTLPTraceExporter } = await load(name, import('@opentelemetry/exporter-trace-otlp-proto'));
      return new OTLPTraceExporter();
    }
    case 'http/json': {
      const name = '@opentelemetry/exporter-trace-otlp-http';
      const { OTLPTraceExporter } = await load(name, import('@opentelemetry/exporter-trace-otlp-http'));
      return new OTLPTraceExporter();
    }
    default:
      throw new SluiceError(
        'BAD_SETTINGS',
        `OTEL_EXPORTER_OTLP_PROTOCOL: expected http/protobuf or http/json, got ${protocol}`,
      );
  }
}

async function load<Module>(name: string, module: Promise<Module>): Promise<Module> {
  try {
    return await module;
  } catch (cause) {
    throw new SluiceError(
      'MISSING_PACKAGE',
      `expected ${name} to be installed beside sluice, as OTEL_… variables ask for traces; got: ${messageOf(cause)}`,
      { cause },
    );
  }
}

const pass = (): void => undefined;

function logDiagnostics(log: Log): void {
  const throttle = new LogThrottle({ ...LOG_BOUND, now: () => performance.now() });
  const write = (text: string, ...rest: unknown[]): void => {
    const suppressed = throttle.admit();
    if (suppressed === undefined) return;
    log.warn(
      { reason: [text, ...rest].map(messageOf).join(' '), suppressed },
      'OpenTelemetry reports a fault',
    );
  };
  diag.setLogger(
    { error: write, warn: write, info: pass, debug: pass, verbose: pass },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

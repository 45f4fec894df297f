import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { trace } from '@opentelemetry/api';
import { BasicTracerProvider, BatchSpanProcessor, InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import { createLog } from '../../../src/log.ts';
import { startTracing } from '../../../src/tracing/start-tracing.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const SRC = path.join(import.meta.dirname, '../../../src');
const API = path.join(SRC, '../../node_modules/@opentelemetry/api');
const log = createLog('silent');

for (const [what, env] of [
  ['nothing is set', {}],
  ['variables are empty', { OTEL_TRACES_EXPORTER: '', OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  ['the exporter is none', { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost' }],
  ['the SDK is disabled', { OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'TRUE' }],
  ['only a sampler and a name are set', { OTEL_TRACES_SAMPLER: 'always_on', OTEL_SERVICE_NAME: 'bids' }],
] as const) {
  test(`nothing is traced where ${what}`, async () => {
    assert.equal(await startTracing(env, log), undefined);
  });
}

test('a setting that names what is not there says what was expected', async () => {
  for (const [env, message] of [
    [
      { OTEL_TRACES_EXPORTER: 'otlp,zipkin' },
      'OTEL_TRACES_EXPORTER: expected otlp, console or none, got zipkin',
    ],
    [
      { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      'OTEL_EXPORTER_OTLP_PROTOCOL: expected http/protobuf or http/json, got grpc',
    ],
  ] as const) {
    await assert.rejects(startTracing(env, log), { code: 'BAD_SETTINGS', message });
  }
});

test('a tracer that other code has registered is used, and told to export at the end', async (t) => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
  trace.setGlobalTracerProvider(provider);
  t.after(() => trace.disable());
  const running = await startTracing({}, log);
  running?.tracing.begin('process bids', 'CONSUMER', {}, {})?.end();
  assert.equal(exporter.getFinishedSpans().length, 0);
  await running?.stop();
  assert.equal(exporter.getFinishedSpans()[0]?.name, 'process bids');
});

/** Runs a program beside a copy of what starts traces. @returns what it prints */
async function run(folder: string, program: string): Promise<string> {
  const file = path.join(folder, 'program.mjs');
  await writeFile(file, program);
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  return stdout.trim();
}

test('nothing of the SDK is loaded where nothing is traced', async (t) => {
  const started = pathToFileURL(path.join(SRC, 'tracing/start-tracing.js')).href;
  const loaded = (env: object) => `
    import { createRequire } from 'node:module';
    const { startTracing } = await import('${started}');
    const log = { child: () => log, warn: () => undefined };
    const running = await startTracing(${JSON.stringify(env)}, log);
    const { cache } = createRequire(import.meta.url);
    console.log(Object.keys(cache).some((name) => name.includes('@opentelemetry/sdk')));
    await running?.stop();
  `;
  const folder = await temporaryFolder(t);
  assert.equal(await run(folder, loaded({ OTEL_TRACES_EXPORTER: 'none' })), 'false');
  assert.equal(await run(folder, loaded({ OTEL_TRACES_EXPORTER: 'console' })), 'true');
});

test('where a package is missing, the error names it', async (t) => {
  const folder = await temporaryFolder(t);
  for (const file of ['errors.js', 'support/log-throttle.js', 'tracing']) {
    await mkdir(path.dirname(path.join(folder, 'src', file)), { recursive: true });
    await cp(path.join(SRC, file), path.join(folder, 'src', file), { recursive: true });
  }
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  await mkdir(path.join(folder, 'node_modules/@opentelemetry'), { recursive: true });
  await symlink(API, path.join(folder, 'node_modules/@opentelemetry/api'));
  const program = `
    import { startTracing } from './src/tracing/start-tracing.js';
    const log = { child: () => log };
    await startTracing({ OTEL_TRACES_EXPORTER: 'otlp' }, log).catch(({ code, message }) => console.log(code, message));
  `;
  assert.match(
    await run(folder, program),
    /^MISSING_PACKAGE expected @opentelemetry\/\S+ to be installed beside sluice, as OTEL_… variables ask for traces; got: Cannot find package/,
  );
});

import { loadConfig } from '../config/config.ts';
import { describeSchema } from '../formats/describe.ts';
import type { DescribedObject } from '../formats/described.ts';
import { SchemaRegistry } from '../ingest/schemas/registry.ts';
import { RegistryAccess } from '../ingest/schemas/registry-access.ts';
import type { SchemaText } from '../ingest/schemas/schema-text.ts';
import { createLog } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { systemClock } from '../support/clock.ts';
import { UsageError } from './command.ts';

/** The registry of the settings, for one command. @throws UsageError if there is none, SluiceError */
export async function withRegistry<T>(use: (registry: SchemaRegistry) => Promise<T>): Promise<T> {
  const config = loadConfig(process.env);
  const { SCHEMA_REGISTRY_URL: urls } = config;
  if (urls.length === 0) throw new UsageError('expected SCHEMA_REGISTRY_URL in the environment, got nothing');
  // A command says itself what has failed.
  const log = createLog('silent');
  const access = new RegistryAccess(config, log, systemClock.now);
  const registry = new SchemaRegistry({ urls, access, clock: systemClock, metrics: new Metrics(), log });
  try {
    return await use(registry);
  } finally {
    await registry.stop();
  }
}

type Format = 'AVRO' | 'PROTOBUF' | 'JSON_SCHEMA';

const FORMATS: Readonly<Record<string, Format>> = { AVRO: 'AVRO', PROTOBUF: 'PROTOBUF', JSON: 'JSON_SCHEMA' };

/**
 * The format of a registry's schema.
 *
 * @param otherwise for registries that do not tell
 */
export function formatOf({ type }: SchemaText, otherwise: Format = 'AVRO'): Format {
  return FORMATS[type] ?? otherwise;
}

/** @throws SchemaFault */
export function describedIn(schema: SchemaText, otherwise?: Format): DescribedObject {
  return describeSchema({ ...schema, format: formatOf(schema, otherwise) });
}

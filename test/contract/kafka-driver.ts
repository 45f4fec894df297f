import { randomUUID } from 'node:crypto';
import test, { type TestContext, type TestOptions } from 'node:test';
import { batchChecks } from './kafka-batch-checks.ts';
import type { CheckFunction, DriverUnderTest, Feature } from './kafka-checks.ts';
import { descriptionChecks } from './kafka-description-checks.ts';
import { groupChecks } from './kafka-group-checks.ts';
import { readingChecks } from './kafka-reading-checks.ts';
import { recordChecks } from './kafka-record-checks.ts';
import { startChecks } from './kafka-start-checks.ts';

/**
 * What every driver must do, as far as its Kafka has the features.
 *
 * @param make is called for each check
 */
export function testKafkaDriver(
  name: string,
  options: TestOptions,
  features: ReadonlySet<Feature>,
  make: (t: TestContext) => Promise<DriverUnderTest>,
): void {
  const check: CheckFunction = (title, run, ...needed) => {
    if (!needed.every((feature) => features.has(feature))) return;
    test(`${name}: ${title}`, options, async (t) => {
      const id = randomUUID();
      await run({ ...(await make(t)), t, topic: `topic-${id}`, groupId: `group-${id}` });
    });
  };
  batchChecks(check);
  startChecks(check);
  groupChecks(check);
  descriptionChecks(check);
  recordChecks(check);
  readingChecks(check);
}

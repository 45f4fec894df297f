import { randomUUID } from 'node:crypto';
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { kafkaClient } from '../../test/helpers/kafka-client.ts';
import type { Scope } from '../../test/helpers/scope.ts';
import { temporaryFolder } from '../../test/helpers/temporary-folder.ts';
import { createTopics } from '../../test/helpers/topic.ts';

/** The graph's source, which the gateway compiles by itself. */
const SOURCE = path.join(import.meta.dirname, '../../../loadtest/graphs/chaos');

/** The text in the schema that the names of the run's topics replace. */
const TOPIC_PLACE = 'topic: "loadtest';

/** A number of partitions that a small cluster would have. */
export const PARTITIONS = 6;

export interface ChaosGraph {
  readonly folder: string;
  /** A name unique to the run, for consumer groups and prefixes. */
  readonly id: string;
  /** The topic with a history, and the one without. */
  readonly topics: readonly [string, string];
}

/** Creates the run's own topics, and a graph that subscribes to them. Both are removed with the scope. */
export async function prepareGraph(scope: Scope): Promise<ChaosGraph> {
  const id = `chaos-${randomUUID().slice(0, 8)}`;
  const topics = [id, `${id}-unkept`] as const;
  const admin = kafkaClient().admin();
  await admin.connect();
  scope.after(async () => {
    await admin.deleteTopics({ topics: [...topics] }).catch(() => undefined);
    await admin.disconnect();
  });
  await createTopics(
    admin,
    topics.map((topic) => ({ topic, numPartitions: PARTITIONS })),
  );
  const folder = await temporaryFolder(scope);
  await cp(SOURCE, folder, { recursive: true });
  const file = path.join(folder, 'schema.graphql');
  const schema = await readFile(file, 'utf8');
  await writeFile(file, schema.replaceAll(TOPIC_PLACE, `topic: "${id}`));
  return { folder, id, topics };
}

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { Redis } from 'ioredis';
import { eventually } from '../helpers/eventually.ts';
import { startReady } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { graphqlClient, numbersOf, Received, type ItemData } from '../helpers/graphql-client.ts';
import { itemLines, kcat } from '../helpers/kcat.ts';
import { kafkaBrokers, testNeeding } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

export interface Servers {
  readonly settings: Readonly<Record<string, string>>;
  readonly clients: readonly Redis[];
}

/** Resolves when the server has refused so many further logins. */
async function refusals(client: Redis, count: number): Promise<void> {
  const refused = async (): Promise<number> => {
    const [, number] = /errorstat_WRONGPASS:count=(\d+)/.exec(await client.info('errorstats')) ?? [];
    return Number(number ?? 0);
  };
  const before = await refused();
  await eventually(async () => {
    const more = (await refused()) - before;
    assert.ok(more >= count, `expected ${count} further logins to be refused, got ${more}`);
  });
}

/** What becomes of subscriptions while servers refuse the login. @param kind of servers, which `start` starts */
export function testRefusedLogin(kind: string, start: (t: TestContext) => Promise<Servers>): void {
  const test = testNeeding('kafka', 'kcat', 'redis-server');

  test(`subscriptions that begin while ${kind} refuses the login wait until the file has the new password`, async (t) => {
    const { settings, clients } = await start(t);
    const onEach = (ask: (client: Redis) => Promise<unknown>) => Promise.all(clients.map(ask));
    await onEach((client) => client.acl('SETUSER', 'gateway', 'on', '>first', '~*', '&*', '+@all'));
    const topic = await createTopic(t);
    const graph = await itemGraph(t, topic);
    const file = path.join(graph, 'password');
    await writeFile(file, 'first\n');
    const gateway = await startReady(t, {
      GRAPH: graph,
      KAFKA_BROKERS: kafkaBrokers(),
      KAFKA_GROUP_ID: topic,
      REDIS_USERNAME: 'gateway',
      REDIS_PASSWORD_FILE: file,
      REDIS_PREFIX: `${topic}:`,
      ...settings,
    });
    await onEach((client) => client.acl('SETUSER', 'gateway', 'resetpass', '>second'));
    await onEach((client) => client.call('CLIENT', 'KILL', 'USER', 'gateway'));
    await gateway.untilLog(/WRONGPASS/);
    const client = graphqlClient(t, gateway.graphqlUrl);
    const received = [1, 2, 3].map(
      (id) => new Received<ItemData>(client, `subscription { item(id: ${id}) { n } }`),
    );
    await gateway.untilMetric('sluice_groups', received.length);
    // Further attempts to log in, behind which the channels were to be joined.
    for (const each of clients) await refusals(each, 3);
    await writeFile(file, 'second\n');
    await gateway.untilMetric('sluice_subscribers', received.length);
    await kcat(
      t,
      topic,
      itemLines([1, 2, 3], (n) => n),
    );
    for (const one of received) await one.until(1);
    assert.deepEqual(received.map(numbersOf), [[1], [2], [3]]);
  });
}

import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import type { Received } from '../helpers/graphql-client.ts';
import { CounterWatch } from '../helpers/counter-watch.ts';
import { needs, podSettings } from '../helpers/services.ts';
import { Stream } from '../helpers/stream.ts';
import { createTopic } from '../helpers/topic.ts';
import { asking, startItems } from './graph-gateway.ts';

const PARTITIONS = 6;
const CLIENTS = 20;

/** What has come says which partition it has been in: `n` counts through them. */
type Item = Received<{ item: { n: number } }>;

test(
  'when a worker is killed under a stream of events, the other goes on, a new one takes connections, events of all partitions arrive again, and no counter goes back',
  needs('kafka', 'redis'),
  async (t) => {
    const topic = await createTopic(t, { partitions: PARTITIONS });
    const gateway = await startItems(t, { ...podSettings(topic), WORKERS: '2' }, topic);
    await gateway.untilReady();
    const subscribe = (): Item => asking(t, gateway, 'subscription { item { n } }');
    const clients = Array.from({ length: CLIENTS }, subscribe);
    await gateway.untilMetric('sluice_subscribers', CLIENTS);
    const stream = new Stream(topic, PARTITIONS);
    await stream.start(t);
    const counters = new CounterWatch(`${gateway.adminUrl}/metrics`);
    counters.start(t);
    await Promise.all(clients.map((client) => client.until(2 * PARTITIONS)));

    const first = await gateway.untilLine(({ msg }) => msg === 'a worker listens');
    const since = stream.sent;
    const killedAt = performance.now();
    process.kill(Number(first['pid']), 'SIGKILL');
    await gateway.untilLog(/"end":"SIGKILL".*a worker ended by itself/);
    const open = (): Item[] => clients.filter(({ end }) => end === undefined);
    await eventually(async () => assert.equal(await gateway.metric('sluice_connections'), open().length));
    const survivors = open();
    assert.ok(survivors.length > 0 && survivors.length < CLIENTS, `${survivors.length} have stayed`);

    /** Partitions from which each of them has got something that was sent since. */
    const flowing = (received: readonly Item[]): void => {
      for (const { data } of received) {
        const numbers = data.map((item) => item?.item.n ?? -1).filter((n) => n >= since);
        assert.equal(new Set(numbers.map((n) => n % PARTITIONS)).size, PARTITIONS);
      }
    };
    await eventually(() => flowing(survivors));
    t.diagnostic(`all partitions flowed again after ${Math.round(performance.now() - killedAt)} ms`);
    assert.ok(survivors.every(({ end }) => end === undefined));

    const listening = () => gateway.lines.filter(({ msg }) => msg === 'a worker listens');
    await gateway.untilLine(() => listening().length === 3);
    const late = Array.from({ length: 10 }, subscribe);
    await gateway.untilMetric('sluice_subscribers', survivors.length + late.length);
    await eventually(() => flowing([...survivors, ...late]));
    assert.equal(await gateway.metric('sluice_worker_restarts_total'), 1);
    await counters.stop();
    t.diagnostic(`${counters.looks} looks at ${counters.series} counters`);
    assert.deepEqual(counters.wentBack, []);
    await stream.stop();
  },
);

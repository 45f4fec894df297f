import assert from 'node:assert/strict';
import { ResumingClient } from '../helpers/resuming-client.ts';
import { testNeeding } from '../helpers/services.ts';
import { ALL, startPods, untilAllHave } from './resuming-pods.ts';

const test = testNeeding('kafka', 'redis-server');

test('sockets that have reached their maximum age are closed with 1012, and clients that resume have missed nothing', async (t) => {
  const { pods, sender } = await startPods(t, { CONNECTION_MAX_AGE_SECONDS: '1' });
  const client = new ResumingClient(t, ALL);
  // A pod of a busy machine may close a socket before it has greeted the client: so a client connects again, as any does.
  const greeted = (times: number): Promise<void> =>
    client.connect(pods[times % 2]?.graphqlUrl ?? '').catch((error: unknown) => {
      assert.match(String(error), /socket (was|is) closed/);
      return greeted(times + 1);
    });
  for (let times = 0; times < 4; times += 1) {
    await greeted(times);
    assert.equal((await client.socket?.closed)?.code, 1012);
  }
  await sender.stop();
  const complete = untilAllHave(sender, new Map([[client, [0, 1, 2, 3, 4]]])).then(() => true);
  do await greeted(0);
  while (!(await Promise.race([complete, client.socket?.closed.then(() => false)])));
});

test('a client that resumes while Redis is away is greeted once it is back, and has missed nothing', async (t) => {
  const { pods, relay, sender } = await startPods(t);
  const [one, other] = pods;
  const client = new ResumingClient(t, ALL);
  await client.connect(one.graphqlUrl);
  await sender.more(20);
  client.cut();
  await sender.more(20);
  await other.untilGrown('sluice_bus_outages_total', () => relay.refuse());
  const greeted = client.connect(other.graphqlUrl);
  await other.untilMetric('sluice_connections', 1);
  assert.deepEqual(client.greetings, [true]);
  relay.admit();
  await greeted;
  await sender.more(20);
  await untilAllHave(sender, new Map([[client, [0, 1, 2, 3, 4]]]));
});

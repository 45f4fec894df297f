import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { startNginx } from '../helpers/nginx.ts';
import type { Scope } from '../helpers/scope.ts';
import { needs } from '../helpers/services.ts';
import { TRANSPORT_CLIENTS } from '../helpers/transport-client.ts';

const QUERY = 'subscription { item { n } }';

async function start(scope: Scope, settings: Readonly<Record<string, string>> = {}): Promise<GatewayProcess> {
  const folder = await graphFolder(scope, { 'schema.graphql': itemSchema('items') });
  return startGateway(scope, { GRAPH: folder, ...settings });
}

for (const client of [TRANSPORT_CLIENTS.eventStream, TRANSPORT_CLIENTS.multipart]) {
  test(
    `a stream over ${client.name} through nginx has each event at once, and moves to another pod when its own drains`,
    needs('nginx'),
    async (t) => {
      const gateways = [await start(t, { PING_SECONDS: '1' }), await start(t)];
      const [first, second] = gateways as [GatewayProcess, GatewayProcess];
      const nginx = await startNginx(t, [first.port]);
      const port = Number(nginx.address.split(':')[1]);
      const behind = Object.assign(Object.create(first) as GatewayProcess, { port });
      const asking = client.ask(t, behind, { query: QUERY });
      await first.untilMetric('sluice_subscribers', 1);
      await first.postEvent('items', { id: 'a', n: 0 });
      assert.deepEqual((await asking.untilPayloads(1))[0]?.data, { item: { n: 0 } });
      await asking.until(({ heartbeats }) => heartbeats >= 2);
      await nginx.use([second.port]);
      await first.stop();
      assert.equal((await asking.untilEnded()).how, 'closed');
      // nginx goes on with its former gateways until it has read its configuration.
      const again = await eventually(async () => {
        const one = client.ask(t, behind, { query: QUERY });
        await one.until(({ ending, isOpen }) => isOpen || ending !== undefined);
        assert.equal(one.ending, undefined);
        return one;
      });
      await second.untilMetric('sluice_subscribers', 1);
      await second.postEvent('items', { id: 'a', n: 7 });
      assert.deepEqual((await again.untilPayloads(1))[0]?.data, { item: { n: 7 } });
    },
  );
}

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { ended, spawnFor } from '../../helpers/child-process.ts';
import { eventually } from '../../helpers/eventually.ts';
import { needs } from '../../helpers/services.ts';

const root = path.resolve(import.meta.dirname, '../../../..');

for (const [topology, settings] of [
  ['redis-cluster', /^REDIS_CLUSTER=127\.0\.0\.1:(\d+),127\.0\.0\.1:\d+,127\.0\.0\.1:\d+\n$/],
  ['redis-sentinel', /^REDIS_SENTINELS=127\.0\.0\.1:(\d+),[^\n]+\nREDIS_SENTINEL_MASTER=mymaster\n$/],
] as const) {
  test(
    `scripts/services ${topology} prints the settings of a gateway, and runs until it is interrupted`,
    needs('redis-server'),
    async (t) => {
      const child = spawnFor(t, path.join(root, 'scripts/services'), [topology], { killSignal: 'SIGTERM' });
      let stdout = '';
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
      const said = text(child.stderr);
      await eventually(() => assert.match(stdout, settings));
      const port = Number(settings.exec(stdout)?.[1]);
      const socket = connect({ port, host: '127.0.0.1' });
      await once(socket, 'connect');
      socket.destroy();
      await ended(child, 'SIGINT');
      assert.match(await said, /until this is interrupted/);
      await eventually(() =>
        assert.rejects(once(connect({ port, host: '127.0.0.1' }), 'connect'), { code: 'ECONNREFUSED' }),
      );
    },
  );
}

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { STANDARD_LOAD } from '../../../loadtest/run/load-options.ts';
import { ShapeRun } from '../../../loadtest/shapes/shape-run.ts';
import { targetsOf } from '../../../loadtest/targets/peers/peers.ts';
import { sluice } from '../../../loadtest/targets/sluice.ts';
import { needs } from '../../helpers/services.ts';

const SOCKETS = 20;
const UNWANTED = 5_000;

const FIXTURES = path.resolve(import.meta.dirname, '../../../../test/loadtest/shapes/fixtures');

process.env['CENTRIFUGO'] = path.join(FIXTURES, 'centrifugo.js');

for (const name of ['sluice', 'stock', 'yoga', 'mercurius', 'centrifugo']) {
  test(
    `${name}: clients get what is theirs, and events without subscribers are consumed all the same`,
    needs('kafka', 'redis', 'kcat'),
    async (t) => {
      const [target = sluice] = name === 'sluice' ? [] : await targetsOf([name], t.signal);
      const load = { ...STANDARD_LOAD, sockets: SOCKETS, channels: SOCKETS, rate: 100 };
      const { value, faults } = await ShapeRun.of(target, load, t.signal, async (run) => {
        await run.connect({ ...run.load, sockets: 5, channels: 5 });
        await run.connect();
        const { events, deliveries } = await run.flood(1);
        assert.ok(events > 0, 'expected events');
        assert.equal(deliveries, events);
        const before = run.cpuSeconds;
        await run.sendUnwanted(UNWANTED);
        const busy = run.cpuSeconds;
        assert.ok(busy > before, 'expected that events cost CPU');
        // In a second: half of two seconds', and a little, as timers may come too early.
        const rest = await run.cpuOfRest(2);
        assert.ok(rest >= 0 && rest <= 0.51 * (run.cpuSeconds - busy), `${rest}`);
        return (await run.flood(1)).deliveries;
      });
      assert.deepEqual(faults, []);
      assert.ok(value > 0, 'expected deliveries behind those events');
    },
  );
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DRIVER_CASES } from '../../../loadtest/drivers/driver-case.ts';
import { costsInFlood, costsOfSingles } from '../../../loadtest/drivers/driver-costs.ts';
import { measureStall } from '../../../loadtest/drivers/driver-stall.ts';
import { kafkaBrokers, needs } from '../../helpers/services.ts';

/** Members wait for their group most of the time. */
describe('the drivers', { concurrency: 3 }, () => {
  for (const driver of DRIVER_CASES) {
    it(`${driver.name}: what events cost is told once all have come`, needs('kafka'), async ({ signal }) => {
      const measurement = { driver, brokers: kafkaBrokers(), events: 30, signal };
      for (const costs of [await costsInFlood(measurement), await costsOfSingles(measurement, 100)]) {
        assert.ok(costs.cpuSeconds > 0, `expected CPU, got ${costs.cpuSeconds} s`);
        assert.ok(costs.residentBytes > 10e6, `expected memory, got ${costs.residentBytes} bytes`);
      }
    });

    const isNamed = driver.hasNames;
    it(
      `${driver.name}: a member that is started anew has its share again`,
      needs('kafka'),
      async ({ signal }) => {
        const stall = await measureStall({ driver, isNamed, fault: 'stopped' }, kafkaBrokers(), signal);
        assert.ok(stall.ownMs > 0 && stall.otherMs > 0, JSON.stringify(stall));
        assert.equal(stall.doubled, 0);
      },
    );
  }
});

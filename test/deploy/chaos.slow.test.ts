import assert from 'node:assert/strict';
import test from 'node:test';
import { tableLines } from '../../loadtest/report/text-table.ts';
import { accountTable } from '../../loadtest/chaos/account-table.ts';
import { runScenario } from '../../loadtest/chaos/chaos-run.ts';
import { RunScope } from '../../loadtest/run/run-scope.ts';
import { SCENARIOS, type ScenarioName } from '../../loadtest/chaos/scenarios.ts';
import { needs } from '../helpers/services.ts';

/** A tenth of what `yarn loadtest chaos` takes by default. */
const SIZE = { clients: 100, pods: 2, channels: 5, perSecond: 40, calmSeconds: 2, faultSeconds: 4 };

/** The storm is about figures of a quiet machine, which a run of all tests is not. */
const NAMES = (Object.keys(SCENARIOS) as ScenarioName[]).filter((name) => name !== 'storm');

/** On average a client of this field has had so many events, or the run has shown nothing. */
const FEWEST_EVENTS = 10;

for (const name of NAMES) {
  const { summary, promised } = SCENARIOS[name];
  test(
    `${summary}: clients that resume have ${promised}`,
    needs('kafka', 'redis-server', 'nginx'),
    async (t) => {
      const scope = new RunScope();
      t.after(() => scope.end());
      const { reports, failures, complaints } = await runScenario(scope, name, SIZE, (text) =>
        t.diagnostic(text),
      );
      for (const line of tableLines(accountTable(reports))) t.diagnostic(line);
      assert.equal(reports.length, SIZE.clients);
      for (const { client, received } of reports) {
        assert.ok(received >= FEWEST_EVENTS, `client ${client} has got ${received} events`);
      }
      assert.deepEqual(failures, [], ['The pods have complained of:', ...complaints].join('\n'));
    },
  );
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tableLines } from '../../loadtest/report/text-table.ts';
import { accountTable } from '../../loadtest/chaos/account-table.ts';
import { runScenario } from '../../loadtest/chaos/chaos-run.ts';
import { RunScope } from '../../loadtest/run/run-scope.ts';
import { SCENARIOS, type ScenarioName } from '../../loadtest/chaos/scenarios.ts';
import { needs } from '../helpers/services.ts';

/** Few of each: `yarn loadtest chaos` takes twenty times as many clients by default. */
const SIZE = {
  clients: 40,
  pods: 2,
  channels: 3,
  perSecond: 40,
  calmSeconds: 1,
  faultSeconds: 2,
  stock: false,
};

/** The storm is about figures of a quiet machine, which a run of all tests is not. */
const NAMES = (Object.keys(SCENARIOS) as ScenarioName[]).filter((name) => name !== 'storm');

/** On average a client of this field has had so many events, or the run has shown nothing. */
const FEWEST_EVENTS = 10;

/** Each has pods and a Redis of its own, and waits most of the time. */
describe('clients that resume have what is promised', { concurrency: 2 }, () => {
  for (const name of NAMES) {
    const { summary, promised } = SCENARIOS[name];
    it(`${summary}: ${promised}`, needs('kafka', 'redis-server', 'nginx'), async (t) => {
      const scope = new RunScope();
      t.after(() => scope.end());
      const say = (text: string): void => t.diagnostic(text);
      const { reports, failures, complaints } = await runScenario(scope, name, SIZE, say);
      for (const line of tableLines(accountTable(reports))) say(line);
      assert.equal(reports.length, SIZE.clients);
      for (const { client, received } of reports)
        assert.ok(received >= FEWEST_EVENTS, `client ${client} has got ${received} events`);
      assert.deepEqual(failures, [], ['The pods have complained of:', ...complaints].join('\n'));
    });
  }
});

const OF_REDIS = ['redis-frozen', 'redis-killed', 'redis-emptied', 'failover', 'subscribers-killed'] as const;

describe(
  'stock clients of a topic without history get every event, and stay connected',
  { concurrency: 2 },
  () => {
    for (const name of OF_REDIS) {
      const { summary } = SCENARIOS[name];
      it(summary, needs('kafka', 'redis-server', 'nginx'), async (t) => {
        const scope = new RunScope();
        t.after(() => scope.end());
        // Pods find Redis away after 4 s, and say each second how far they are: that has to have been heard before.
        const size = { ...SIZE, faultSeconds: 6, calmSeconds: 8, stock: true };
        const settings = { KAFKA_SESSION_TIMEOUT_MS: '30000' };
        const say = (text: string): void => t.diagnostic(text);
        const { reports, complaints } = await runScenario(scope, name, size, say, {
          redis: 'single',
          settings,
        });
        const sum = (of: (report: (typeof reports)[number]) => number): number =>
          reports.reduce((total, report) => total + of(report), 0);
        const lost = sum((report) => report.lost.told + report.lost.late + report.lost.untold);
        const [returns, doubled] = [sum((report) => report.returns), sum((report) => report.doubled)];
        const said = ['The pods have complained of:', ...complaints].join('\n');
        assert.deepEqual({ lost, returns, doubled }, { lost: 0, returns: 0, doubled: 0 }, said);
        assert.ok(sum(({ received }) => received) >= FEWEST_EVENTS * SIZE.clients);
      });
    }
  },
);

import assert from 'node:assert/strict';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { before, describe, it, type TestContext } from 'node:test';
import { spawnFor } from '../helpers/child-process.ts';
import { openPage } from '../helpers/chromium.ts';
import { freePort } from '../helpers/free-port.ts';
import { GATEWAY_DEFAULTS, untilListening, type GatewayProcess } from '../helpers/gateway.ts';
import { fileScope } from '../helpers/scope.ts';
import { endItself, InstalledPackage } from '../helpers/package/installed.ts';
import { needs } from '../helpers/services.ts';

const PROJECT = path.resolve(import.meta.dirname, '../../../examples/warehouse');

const TOPIC = 'inventory.public.stock';

const change = (quantity: number) => ({
  payload: {
    op: 'u',
    before: null,
    after: { product_id: 7, warehouse_id: 'ams', aisle: 'C', shelf: 4, quantity, quality: 'S' },
    ts_ms: 0,
  },
});

const file = fileScope();

describe('the warehouse, as a project of its own', needs('chromium'), () => {
  let project: InstalledPackage;

  before(async () => {
    project = await InstalledPackage.copyOf(file, PROJECT);
  });

  it('has no fault that sluice check finds, and none of types', async () => {
    const { stdout } = await project.exec(['npm', 'run', 'check']);
    assert.match(stdout, /^0 errors, 1 warning$/m);
  });

  it('passes its own tests', async () => {
    assert.match((await project.exec(['npm', 'test'])).stdout, /^# pass 4$/m);
  });

  it('has a page that shows the stock, and goes on after the gateway was restarted', async (t) => {
    const pages = await serve(t, project);
    const port = await freePort();
    const start = async (): Promise<GatewayProcess> => {
      const settings = { ...GATEWAY_DEFAULTS, PORT: String(port), ORIGINS: pages };
      return untilListening(project.spawn(t, ['start', '--silent'], settings, ['npm']));
    };
    const first = await start();
    const token = (
      await project.exec([process.execPath, '--env-file=.env', 'token.mjs', 'ann'])
    ).stdout.trim();
    const page = await openPage(t);
    const gateway = encodeURIComponent(`ws://localhost:${port}/graphql`);
    await page.goto(`${pages}/?token=${token}&products=7,8&gateway=${gateway}`);
    await first.untilMetric('sluice_subscribers', 1);
    await first.postEvent(TOPIC, change(5));
    const row = page.locator('tr');
    await row.filter({ hasText: '7ams C45 saleable' }).waitFor();
    await endItself(first);
    await page.getByText('not connected').waitFor();
    const second = await start();
    await page.getByText('live', { exact: true }).waitFor();
    await second.untilMetric('sluice_subscribers', 1);
    await second.postEvent(TOPIC, change(4));
    await row.filter({ hasText: '7ams C44 saleable' }).waitFor();
    assert.equal(await row.count(), 1);
    // Without Redis, a gateway keeps nothing over a restart, and the page says so.
    await page.getByRole('note').filter({ hasText: 'Some changes may be missing' }).waitFor();
    await endItself(second);
  });
});

/** `npm run page`, at a port of its own. @returns the page's address */
async function serve(t: TestContext, { folder }: InstalledPackage): Promise<string> {
  const child = spawnFor(t, 'npm', ['run', 'page', '--', '--serve=127.0.0.1:0'], { cwd: folder });
  for await (const line of createInterface({ input: child.stderr })) {
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (address !== undefined) return address;
  }
  throw new Error('expected esbuild to say where the page is');
}

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { buildSchema, validateSchema } from 'graphql';
import { spawnFor } from '../helpers/child-process.ts';
import { freePort } from '../helpers/free-port.ts';
import { GATEWAY_DEFAULTS, runCli, spawnCli, untilListening } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { post, startGraph } from './graph-gateway.ts';

const CLI = path.join(import.meta.dirname, '../../src/cli.js');

test('where GRAPH is not set, serve, dev and config take the folder graph, or else the one they run in', async (t) => {
  const cwd = await temporaryFolder(t);
  await mkdir(path.join(cwd, 'graph'));
  await writeFile(path.join(cwd, 'graph/schema.graphql'), itemSchema('items'));
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ...GATEWAY_DEFAULTS, GRAPH: '' };
  for (const command of ['serve', 'dev']) {
    const gateway = await untilListening(spawnFor(t, process.execPath, [CLI, command], { cwd, env }));
    await gateway.stop();
    const line = gateway.lines.find(({ msg }) => msg === 'listening');
    assert.equal(line?.['graph'], path.join(cwd, 'graph'), command);
  }
  const config = async (folder: string, given = env): Promise<string> =>
    text(spawnFor(t, process.execPath, [CLI, 'config'], { cwd: folder, env: given }).stdout);
  assert.match(await config(cwd), /^GRAPH=graph$/m);
  assert.match(await config(path.join(cwd, 'graph')), /^GRAPH=\.$/m);
  assert.match(await config(cwd, { ...env, GRAPH: 'other' }), /^GRAPH=other$/m);
  assert.match(await config(path.dirname(CLI)), /^GRAPH=examples\/auction$/m);
});

test('wrong settings stop the start with one message on stderr', async (t) => {
  const { code, stderr, stdout } = await runCli(t, ['serve'], { PORT: 'x', PING_SECONDS: 'y' });
  assert.equal(code, 1);
  assert.equal(stdout, '');
  assert.equal(
    stderr,
    "sluice: these settings can't be used:\n" +
      '  PORT: expected a whole number from 0 to 65535, got x\n' +
      '  PING_SECONDS: expected a whole number from 0 to 3600, got y\n',
  );
});

test('npm start has a consumer group of the developer’s own, unless the environment names one', async (t) => {
  for (const [given, expected] of [
    ['', /^KAFKA_GROUP_ID=sluice-start-.+@.+$/m],
    ['ours', /^KAFKA_GROUP_ID=ours$/m],
  ] as const) {
    const env = { ...process.env, KAFKA_GROUP_ID: given };
    const child = spawnFor(t, process.execPath, ['scripts/start.mjs', 'config'], { env });
    assert.match(await text(child.stdout), expected);
  }
});

test('the .env of the working directory has settings, of which the log has the names only; the environment wins', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(
    path.join(cwd, '.env'),
    'AUTH_SECRET=a-secret-of-at-least-thirty-two-bytes\nPING_SECONDS=7\nPORT=x\nKAFKA_GROUP_ID=team',
  );
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ...GATEWAY_DEFAULTS };
  const own = { ...env, PING_SECONDS: '8' };
  const asked = spawnFor(t, process.execPath, [path.resolve('scripts/start.mjs'), 'config'], {
    cwd,
    env: own,
  });
  const config = await text(asked.stdout);
  for (const line of ['PORT=0', 'PING_SECONDS=8', 'KAFKA_GROUP_ID=team', 'AUTH_SECRET=(secret)'])
    assert.ok(config.split('\n').includes(line), `${line} in ${config}`);
  for (const command of ['serve', 'dev']) {
    const gateway = await untilListening(spawnFor(t, process.execPath, [CLI, command], { cwd, env }));
    await gateway.stop();
    const [told, ...more] = gateway.lines.filter(({ msg }) => msg.includes('.env'));
    assert.deepEqual(
      [told?.msg, told?.['variables'], more],
      ['.env has been read', ['AUTH_SECRET', 'KAFKA_GROUP_ID', 'PING_SECONDS'], []],
    );
    assert.doesNotMatch(JSON.stringify(gateway.lines), /thirty-two/);
  }
  const production = { ...env, NODE_ENV: 'production' };
  const gateway = await untilListening(spawnFor(t, process.execPath, [CLI], { cwd, env: production }));
  await gateway.untilLog(/\.env is not read in production: settings come from the environment/);
});

test('explain prints its own options when it is asked for help, and when it can not be understood', async (t) => {
  const help = await runCli(t, ['explain', '--help']);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /^ {2}--worker <number>/m);
  const wrong = await runCli(t, ['explain', '--topic']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /^ {2}--worker <number>/m);
});

test('explain asks the admin port of the settings, where none is named', async (t) => {
  const port = await freePort();
  const { code, stderr } = await runCli(t, ['explain', '--topic', 'bids'], { ADMIN_PORT: `${port}` });
  assert.equal(code, 1);
  assert.equal(
    stderr,
    `sluice: expected the admin port of a gateway, got one on which nothing listens; --url names another (http://127.0.0.1:${port})\n`,
  );
});

test('an unknown command or option is refused with the usage', async (t) => {
  for (const args of [['serv'], ['--nope'], ['check', 'a', 'b']]) {
    const { code, stderr } = await runCli(t, args);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, /expected|Unknown option/, args.join(' '));
    assert.equal(/Did you mean serve\?/.test(stderr), args[0] === 'serv', args.join(' '));
  }
});

test('a reader of the output that has seen enough ends the command, without a word', async (t) => {
  const fields = Array.from(
    { length: 2_000 },
    (_, n) => `f${n}(id: ID): Item @event(topic: "t", key: "nope")`,
  );
  const folder = await graphFolder(t, {
    'schema.graphql': `type Subscription {\n${fields.join('\n')}\n}\ntype Item { id: ID }\n`,
  });
  const child = spawnCli(t, ['check', folder], {});
  child.stdout.once('data', () => child.stdout.destroy());
  const [[code], stderr] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  assert.equal(code, 141);
  assert.equal(stderr, '');
});

test('schema prints the directives with which the files of a graph are a whole schema, and what its clients see', async (t) => {
  const directives = await runCli(t, ['schema']);
  assert.equal(directives.code, 0);
  const written = `type Query { now: String } ${itemSchema('items')}`;
  const folder = await graphFolder(t, { 'schema.graphql': written });
  assert.throws(() => buildSchema(written), /Unknown directive "@event"/);
  const whole = buildSchema(`${directives.stdout}\n${written}`);
  assert.deepEqual(validateSchema(whole), []);
  const shown = await runCli(t, ['schema', folder]);
  assert.doesNotMatch(shown.stdout, /@event|EventKeys/);
  const fields = Object.keys(buildSchema(shown.stdout).getSubscriptionType()?.getFields() ?? {});
  assert.deepEqual(fields, ['item', 'expensive_item']);
  const nowhere = await runCli(t, ['schema', '/no/graph']);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /expected a schema that can be read: ENOENT/);
});

test('check ends, with all that it has printed, though code of the graph holds a timer', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': itemSchema('items'),
    'graph.ts': `import { defineGraph } from 'sluice';
setInterval(() => {}, 1_000);
export default defineGraph({});`,
  });
  const checked = await runCli(t, ['check', folder]);
  assert.equal(checked.code, 0);
  assert.match(checked.stdout, /0 errors, 1 warning\n$/);
});

test('check prints every finding with file, line and hint, and fails on errors', async (t) => {
  const bad = await graphFolder(t, {
    'schema.graphql': `type Subscription {\n  a(id: ID): Item @event(topic: "t", key: "nope")\n  b(id: ID): Item @event(topic: "t", key: "none")\n}\ntype Item { id: ID }\n`,
  });
  const refused = await runCli(t, ['check', bad]);
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /schema\.graphql:2:\d+: error: .*nope/);
  assert.match(refused.stdout, /schema\.graphql:3:\d+: error: .*none/);
  assert.match(refused.stdout, /2 errors, 0 warnings/);
});

test('check, serve and dev warn alike of @auth that no viewer can fulfil by the settings', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql':
      'type Subscription { bid: Bid @event(topic: "bids") @auth(requires: "admin") }\ntype Bid { n: Int }\n',
  });
  const noWay = /schema\.graphql:1:21: warning: @auth: clients have no way to authenticate, so no one/;
  const noRole = /schema\.graphql:1:21: warning: @auth: no viewer has "role": AUTH_CLAIMS gives id\n/;
  const AUTH_SECRET = 'a-secret-of-at-least-thirty-two-bytes';
  for (const [settings, expected] of [
    [{}, noWay],
    [{ AUTH_SECRET }, noRole],
  ] as const) {
    const { code, stdout } = await runCli(t, ['check', folder], settings);
    assert.equal(code, 0);
    assert.match(stdout, expected);
    for (const command of ['serve', 'dev']) {
      const env = { ...GATEWAY_DEFAULTS, GRAPH: folder, ...settings };
      const gateway = await untilListening(spawnCli(t, [command], env));
      await gateway.stop();
      const told = gateway.lines.filter(({ msg }) => msg.includes('@auth'));
      assert.equal(told.length, 1, command);
      assert.match(told[0]?.msg ?? '', expected);
    }
  }
  const { code, stdout } = await runCli(t, ['check', folder], { AUTH_SECRET: 'short' });
  assert.deepEqual([code, stdout], [0, '0 errors, 0 warnings\n']);
});

test('an address or a port that is not to be had stops the start, with one message that names the setting', async (t) => {
  const taken = createServer().listen(0);
  t.after(() => taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const foreign = 'expected an address of this machine, got 192.0.2.1: no interface has it';
  const WORKERS = { WORKERS: '2', REDIS_URL: 'redis://127.0.0.1:1' };
  for (const [setting, value, message, more] of [
    ['PORT', String(port), `expected a free port, got ${port}`, {}],
    ['PORT', String(port), `expected a free port, got ${port}`, WORKERS],
    ['BIND', '192.0.2.1', foreign, {}],
    ['ADMIN_BIND', '192.0.2.1', foreign, {}],
  ] as const) {
    const settings = { PORT: '0', ADMIN_PORT: '0', [setting]: value, ...more };
    const { code, stderr } = await runCli(t, ['serve'], settings);
    assert.equal(code, 1);
    assert.equal(stderr.split(`${setting}: ${message}`).length, 2, stderr);
  }
});

test('a rejected promise that the code of the graph does not handle is logged, and the gateway goes on', async (t) => {
  const gateway = await startGraph(t, {
    'schema.graphql':
      'type Query { forget: Int }\ntype Subscription { a: A @event(topic: "t") }\ntype A { n: Int }',
    'graph.js': `
      import { defineGraph } from 'sluice';
      export default defineGraph({
        resolvers: { Query: { forget: () => { Promise.reject(new Error('forgotten')); return 1; } } },
      });
    `,
  });
  for (let round = 0; round < 2; round += 1) {
    assert.deepEqual(await post(gateway, { query: '{ forget }' }), { data: { forget: 1 } });
  }
  const told = () => gateway.lines.filter(({ msg }) => msg === 'unhandled promise rejection');
  await gateway.untilLine(() => told().length === 2);
});

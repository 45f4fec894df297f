import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { apiVersionsV3 } from '@platformatic/kafka';
import type {
  PasswordCredentials,
  TlsCredentials,
} from '../../../../../src/ingest/kafka/credentials/credentials.ts';
import { Connections } from '../../../../../src/ingest/kafka/platformatic/connections.ts';
import { FakeBroker, KEY } from './fake-broker.ts';
import { turnsUntil } from '../../../../helpers/turns-until.ts';

async function setUp(
  t: TestContext,
  mechanism: PasswordCredentials['mechanism'],
  tls?: () => TlsCredentials,
) {
  const broker = await FakeBroker.start(t);
  const sasl = { mechanism, username: () => 'user', password: () => 'open sesame' };
  const connection = {
    brokers: [],
    clientId: 'test',
    rack: undefined,
    credentials: { tls, sasl },
  };
  // The process may stand still for longer than brokers have.
  const connections = new Connections({
    connection,
    connectTimeoutMs: 60_000,
    requestTimeoutMs: 60_000,
    onAnswer: () => undefined,
  });
  t.after(() => connections.close());
  const ask = () =>
    connections.request(broker.address, 'asking for versions', apiVersionsV3.api, 'test', '1');
  return { broker, ask };
}

for (const answer of ['', 'e=other-error', 'nonsense']) {
  test(`an answer to SCRAM that can’t be read, "${answer}", refuses the connection, and ends no process`, async (t) => {
    const { broker, ask } = await setUp(t, 'scram-sha-512');
    broker.authBytes = Buffer.from(answer);
    const message =
      'SASL SCRAM-SHA-512 authentication failed: expected an answer of SCRAM-SHA-512, got one that can’t be read';
    await assert.rejects(ask(), { message, isRetriable: false });
  });
}

test('a broker that has closed its connection is connected to again', async (t) => {
  const { broker, ask } = await setUp(t, 'plain');
  await ask();
  broker.hangsUp = true;
  await assert.rejects(ask(), { isRetriable: true });
  broker.hangsUp = false;
  await ask();
});

test('certificates that can’t be read are read again for the next request', async (t) => {
  let reads = 0;
  const { ask } = await setUp(t, 'plain', () => {
    reads += 1;
    throw new Error(`no such file, read ${reads}`);
  });
  await assert.rejects(ask(), /no such file, read 1/);
  await assert.rejects(ask(), /no such file, read 2/);
});

test('a request waits while its connection authenticates again, for which brokers would close it', async (t) => {
  const { broker, ask } = await setUp(t, 'plain');
  t.mock.timers.enable({ apis: ['setTimeout'] });
  broker.sessionMs = 2_000;
  await ask();
  let begin: (() => void) | undefined;
  broker.mayBegin = new Promise((resolve) => (begin = resolve));
  broker.sessionMs = 0;
  t.mock.timers.tick(2_000);
  await turnsUntil(() => broker.keys.length >= 4);
  const asked = ask();
  // It would have been sent by then.
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  begin?.();
  await asked;
  const authenticated = [KEY.handshake, KEY.authenticate, KEY.versions];
  assert.deepEqual(broker.keys, [...authenticated, ...authenticated]);
});

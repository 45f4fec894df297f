import assert from 'node:assert/strict';
import test from 'node:test';
import { configMarkdown, describeConfig, loadConfig } from '../../../src/config/config.ts';
import { assertRefused, faultsOf, warningsOf } from './refused.ts';

test('without any variable, every setting has its default', () => {
  const config = loadConfig({});
  assert.equal(config.PORT, 4000);
  assert.equal(config.PING_SECONDS, 25);
  assert.equal(config.MAX_CHANNELS, 100);
  assert.deepEqual(config.KAFKA_BROKERS, []);
  assert.equal(config.REDIS_URL, undefined);
  const empty = { PORT: '', REDIS_URL: '', KAFKA_BROKERS: '' };
  assert.deepEqual(loadConfig(empty), config, 'an empty one counts as not set');
});

test('every variable is parsed as its type', () => {
  const config = loadConfig({
    PORT: '0\n', // A newline at the end of a value is no part of it.
    REDIS_PREFIX: 'a:\r\n',
    GRAPHIQL: 'FALSE',
    ORIGINS: 'https://a.example, http://localhost:3000',
    KAFKA_BROKERS: 'one:9092,two:9093',
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: 'u',
    KAFKA_SASL_PASSWORD: 'p',
    REDIS_URL: 'rediss://redis.example',
  });
  assert.deepEqual([config.PORT, config.REDIS_PREFIX], [0, 'a:']);
  assert.equal(config.GRAPHIQL, false);
  assert.deepEqual(config.ORIGINS, ['https://a.example', 'http://localhost:3000']);
  assert.deepEqual(config.KAFKA_BROKERS, ['one:9092', 'two:9093']);
  assert.equal(config.KAFKA_SASL_MECHANISM, 'plain');
});

test('one message names every wrong setting, what was expected and what came', () => {
  assertRefused(
    { PORT: '70000', GRAPHIQL: 'yes', KAFKA_START: 'earliest', ORIGINS: 'example.com', PING_SECONDS: '-1' },
    [
      'PORT: expected a whole number from 0 to 65535, got 70000',
      'GRAPHIQL: expected true or false, got yes',
      'ORIGINS: expected origins like https://www.example.com, several separated by commas, or *, got example.com',
      'KAFKA_START: expected committed or latest, got earliest',
      'PING_SECONDS: expected a whole number from 0 to 3600, got -1',
    ],
  );
});

test('a number is written in digits alone', () => {
  for (const wrong of [' ', '1.5', '1e3', '0x10', '4000 ', 'NaN', '٣']) {
    assertRefused({ PORT: wrong }, `PORT: expected a whole number from 0 to 65535, got ${wrong}`);
  }
});

test('settings that contradict each other are refused', () => {
  assertRefused({ KAFKA_SASL_MECHANISM: 'plain' }, [/KAFKA_SASL_USERNAME/, /KAFKA_SASL_PASSWORD/]);
  assertRefused({ KAFKA_SASL_USERNAME: 'u' }, /KAFKA_SASL_MECHANISM/);
  assertRefused({ KAFKA_CA: 'ca.pem' }, /KAFKA_TLS/);
  assertRefused({ REDIS_CA: 'ca.pem', REDIS_URL: 'redis://a' }, /rediss:/);
});

test('Redis is at one URL or told by Sentinel, whose settings come together', () => {
  const sentinels = { REDIS_SENTINELS: 'a:26379, [::1]:26379' };
  const config = loadConfig({ ...sentinels, REDIS_SENTINEL_MASTER: 'mymaster' });
  assert.deepEqual(config.REDIS_SENTINELS, ['a:26379', '[::1]:26379']);
  assertRefused({ ...sentinels, REDIS_SENTINEL_MASTER: 'mymaster', REDIS_URL: 'redis://host:6379' }, [
    'REDIS_URL, REDIS_SENTINELS, REDIS_CLUSTER: expected one of them, got REDIS_URL and REDIS_SENTINELS',
  ]);
  assertRefused(sentinels, /REDIS_SENTINEL_MASTER: expected the name .*got nothing/);
  for (const name of ['REDIS_SENTINEL_MASTER', 'REDIS_SENTINEL_USERNAME', 'REDIS_SENTINEL_PASSWORD']) {
    assertRefused({ [name]: 'hunter2', REDIS_URL: 'redis://host' }, [
      `REDIS_SENTINELS: expected host:port, as ${name} is set, got nothing`,
    ]);
  }
});

test('a cluster is named by some of its nodes, and braces in names are for its slots', () => {
  const cluster = { REDIS_CLUSTER: 'a:6379,b:6379' };
  assert.deepEqual(loadConfig({ ...cluster, REDIS_TLS: 'true' }).REDIS_CLUSTER, ['a:6379', 'b:6379']);
  assertRefused({ ...cluster, REDIS_URL: 'redis://a' }, /expected one of them, got REDIS_URL and/);
  assertRefused({ ...cluster, REDIS_PREFIX: '{mine}:' }, [
    'REDIS_PREFIX: expected no braces with REDIS_CLUSTER, since a topic stands in them, got {mine}:',
  ]);
  assert.equal(loadConfig({ REDIS_URL: 'redis://a', REDIS_PREFIX: '{mine}:' }).REDIS_PREFIX, '{mine}:');
  const spread = { REDIS_CLUSTER_SPREAD: 'orders, prices' };
  assert.deepEqual(loadConfig({ ...cluster, ...spread }).REDIS_CLUSTER_SPREAD, ['orders', 'prices']);
  assertRefused({ REDIS_URL: 'redis://a', ...spread }, [
    'REDIS_CLUSTER: expected host:port, as REDIS_CLUSTER_SPREAD is set, got nothing',
  ]);
});

test('user and password of Redis stand in its URL or in settings of their own', () => {
  const url = { REDIS_URL: 'redis://host' };
  assert.equal(loadConfig({ ...url, REDIS_USERNAME: 'u', REDIS_PASSWORD: 'hunter2' }).REDIS_USERNAME, 'u');
  assertRefused({ REDIS_URL: 'redis://:p@host', REDIS_PASSWORD: 'hunter2' }, [
    'REDIS_URL: expected no user and no password in it, as REDIS_PASSWORD is set, got some',
  ]);
  assertRefused({ REDIS_USERNAME: 'u' }, /expected one of them, as REDIS_USERNAME is set/);
  const sentinel = { REDIS_SENTINELS: 'a:1', REDIS_SENTINEL_MASTER: 'm' };
  for (const [place, name] of [
    [url, 'REDIS_USERNAME'],
    [url, 'REDIS_PASSWORD'],
    [sentinel, 'REDIS_SENTINEL_USERNAME'],
    [sentinel, 'REDIS_SENTINEL_PASSWORD'],
  ] as const) {
    assert.equal(loadConfig({ ...place, [`${name}_FILE`]: 'file' })[`${name}_FILE`], 'file');
    assertRefused({ ...place, [name]: 'hunter2', [`${name}_FILE`]: 'file' }, [
      `${name}, ${name}_FILE: expected one of them, got both`,
    ]);
  }
  assertRefused({ REDIS_URL: 'rediss://host', REDIS_CERT: 'cert.pem' }, [
    'REDIS_CERT, REDIS_KEY: expected a certificate and its key, got one of them',
  ]);
  const own = { REDIS_CERT: 'cert.pem', REDIS_KEY: 'key.pem' };
  assertRefused({ ...url, ...own }, /rediss:\/\/, as REDIS_CERT and REDIS_KEY is set/);
  assert.equal(loadConfig({ REDIS_URL: 'rediss://host', ...own }).REDIS_KEY, 'key.pem');
  assertRefused({ ...url, REDIS_TLS: 'true' }, /REDIS_TLS: expected false.*rediss:/);
  const sentinels = { REDIS_SENTINELS: 'a:1', REDIS_SENTINEL_MASTER: 'm', REDIS_CA: 'ca.pem' };
  assertRefused(sentinels, /REDIS_TLS: expected true, as REDIS_CA is set/);
  assert.equal(loadConfig({ ...sentinels, REDIS_TLS: 'true' }).REDIS_TLS, true);
});

test('in production GraphiQL is off and any host may be named, unless settings say otherwise', () => {
  assert.equal(loadConfig({}).GRAPHIQL, true);
  assert.equal(loadConfig({}).HOSTS, 'loopback');
  assert.equal(loadConfig({ NODE_ENV: 'test', KUBERNETES_SERVICE_HOST: '' }).GRAPHIQL, true);
  for (const production of [{ NODE_ENV: 'production' }, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }]) {
    assert.equal(loadConfig(production).GRAPHIQL, false);
    assert.deepEqual(loadConfig(production).HOSTS, ['*']);
    assert.equal(loadConfig({ ...production, GRAPHIQL: 'true' }).GRAPHIQL, true);
    assert.equal(loadConfig({ ...production, HOSTS: 'loopback' }).HOSTS, 'loopback');
    assert.equal(loadConfig(production).PORT, 4000);
  }
  assert.match(configMarkdown(), /^\| `GRAPHIQL` \| .* \| `true`, in production `false` \|/m);
});

test('HOSTS are names or addresses without ports', () => {
  assert.deepEqual(loadConfig({ HOSTS: 'WWW.example.com, [::1]' }).HOSTS, ['www.example.com', '[::1]']);
  assert.deepEqual(loadConfig({ HOSTS: '*' }).HOSTS, ['*']);
  for (const wrong of ['www.example.com:443', 'www.example.com:80', 'https://a.example', 'a/b', '::1', ',']) {
    assertRefused({ HOSTS: wrong }, [
      `HOSTS: expected host names without ports, several separated by commas, or *, or loopback, got ${wrong}`,
    ]);
  }
});

test('ports are opened on addresses, not on names', () => {
  assert.equal(loadConfig({ BIND: '127.0.0.1' }).BIND, '127.0.0.1');
  assert.equal(loadConfig({ ADMIN_BIND: '::' }).ADMIN_BIND, '::');
  assertRefused({ BIND: 'localhost' }, [
    'BIND: expected an IP address, such as 127.0.0.1 or ::, got localhost',
  ]);
});

test('both ports are the same only on different addresses, or where the system chooses them', () => {
  const same = { PORT: '4000', ADMIN_PORT: '4000' };
  for (const binds of [
    {},
    { BIND: '127.0.0.1' },
    { BIND: '127.0.0.1', ADMIN_BIND: '127.0.0.1' },
    { BIND: '127.0.0.1', ADMIN_BIND: '::' },
  ]) {
    assertRefused({ ...same, ...binds }, 'ADMIN_PORT: expected another port than PORT, got 4000 for both');
  }
  assert.equal(loadConfig({ ...same, BIND: '127.0.0.1', ADMIN_BIND: '127.0.0.2' }).PORT, 4000);
  assert.equal(loadConfig({ PORT: '0', ADMIN_PORT: '0' }).ADMIN_PORT, 0);
});

test('persisted documents only need a manifest', () => {
  assertRefused({ PERSISTED_DOCUMENTS_ONLY: 'true' }, [
    'PERSISTED_DOCUMENTS: expected a file, as PERSISTED_DOCUMENTS_ONLY is true, got nothing',
  ]);
});

test('brokers have a port and no scheme, and are not placeholders', () => {
  for (const wrong of ['SASL_SSL://one:9092', 'one', 'one:0', 'one:65536', 'one:9092,two', '<broker>:9092']) {
    assertRefused({ KAFKA_BROKERS: wrong }, [
      `KAFKA_BROKERS: expected host:port without a scheme, several separated by commas, got ${wrong}`,
    ]);
  }
  assert.deepEqual(loadConfig({ KAFKA_BROKERS: '[::1]:9092' }).KAFKA_BROKERS, ['[::1]:9092']);
});

test('a value that an example of deploy/kubernetes has is refused wherever it was left, and no secret shown', () => {
  const env = {
    KAFKA_BROKERS: 'one:9092,REPLACE-WITH-BROKER:9093',
    KAFKA_SASL_PASSWORD: 'REPLACE-WITH-PASSWORD',
    REDIS_URL: 'rediss://:hunter2@REPLACE-WITH-REDIS:6379',
    ORIGINS: 'https://REPLACE-WITH-SITE',
    // Read by the graph's code.
    LISTINGS_TOKEN: 'REPLACE-ME',
    UNRELATED: 'REPLACE_WITH_SPACES replace-with-redis REPLACE-',
  };
  assertRefused(env, [
    "KAFKA_BROKERS: expected a value of yours, got the example's REPLACE-WITH-BROKER",
    "KAFKA_SASL_PASSWORD: expected a value of yours, got the example's REPLACE-WITH-PASSWORD",
    "REDIS_URL: expected a value of yours, got the example's REPLACE-WITH-REDIS",
    "ORIGINS: expected a value of yours, got the example's REPLACE-WITH-SITE",
    "LISTINGS_TOKEN: expected a value of yours, got the example's REPLACE-ME",
  ]);
});

test('a database of Redis is refused, since pub/sub has none, and so are parameters, which may be secret', () => {
  assertRefused({ REDIS_URL: 'redis://host/1' }, /^REDIS_URL: expected no database.*REDIS_PREFIX.*got \/1/);
  assertRefused({ REDIS_URL: 'redis://host?password=hunter2' }, [
    'REDIS_URL: expected no parameters behind a question mark, got some',
  ]);
  for (const url of ['redis://host', 'redis://host/', 'redis://host:6379/0']) {
    assert.equal(loadConfig({ REDIS_URL: url }).REDIS_URL, url);
  }
});

test('names like those of settings are warned of, with the nearest setting; those of Kubernetes and npm are not', () => {
  assert.deepEqual(warningsOf({ KAFKA_BROKER: 'k:9092', PATH: '/bin', HOME: '/' }), [
    'KAFKA_BROKER is no setting; the nearest one is KAFKA_BROKERS',
  ]);
  const service = [
    'SERVICE_HOST',
    'SERVICE_PORT',
    'SERVICE_PORT_TCP_REDIS',
    'PORT',
    'PORT_6379_TCP',
    'PORT_6379_TCP_ADDR',
  ];
  const kubernetes = [...service.map((name) => `REDIS_${name}`), 'KAFKA_SERVICE_HOST'];
  const npm = [
    'WATCH_REPORT_DEPENDENCIES',
    'INIT_CWD',
    'npm_config_prefix',
    'npm_lifecycle_event',
    'npm_package_name',
  ];
  assert.deepEqual(warningsOf(Object.fromEntries([...kubernetes, ...npm].map((name) => [name, '1']))), []);
  // One that is far from a name is not suggested.
  assert.deepEqual(warningsOf({ LOG_FORMAT: 'json', INIT_TIMEOUT: '1' }), [
    'LOG_FORMAT is no setting',
    'INIT_TIMEOUT is no setting; the nearest one is INIT_TIMEOUT_MS',
  ]);
});

test('a password for Kafka without TLS is warned of', () => {
  const sasl = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' };
  assert.match(warningsOf(sasl).join(), /KAFKA_SASL_MECHANISM without KAFKA_TLS/);
  assert.deepEqual(warningsOf({ ...sasl, KAFKA_TLS: 'true' }), []);
});

test('a gateway with neither Kafka nor Redis is warned of in production, where it gets events by hand only', () => {
  const alone =
    /^KAFKA_BROKERS and REDIS_URL are not set: the only events are those sent by POST .* pods share nothing$/;
  const sentinels = { REDIS_SENTINELS: 's:26379', REDIS_SENTINEL_MASTER: 'm' };
  for (const production of [{ NODE_ENV: 'production' }, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }]) {
    const warnings = warningsOf(production);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', alone);
    for (const place of [{ KAFKA_BROKERS: 'k:9092' }, { REDIS_URL: 'redis://r' }, sentinels]) {
      assert.deepEqual(warningsOf({ ...production, ...place }), []);
    }
  }
  assert.deepEqual(warningsOf({ NODE_ENV: 'test' }), []);
});

test('a cap that was set is warned of where it is not known whom it is for', () => {
  const addresses = { MAX_CONNECTIONS_PER_ADDRESS: '10', CONNECTIONS_PER_SECOND_PER_ADDRESS: '10' };
  const viewers = { MAX_CONNECTIONS_PER_VIEWER: '50', MAX_OPERATIONS_PER_VIEWER: '10' };
  const warnings = warningsOf({ ...addresses, ...viewers }).map((warning) => /^[^;,]*/.exec(warning)?.[0]);
  const withoutProxies = Object.keys(addresses).map(
    (name) => `${name} has no effect without TRUSTED_PROXIES or PROXY_PROTOCOL`,
  );
  const withoutId = Object.keys(viewers).map((name) => `${name} has no effect without VIEWER_ID`);
  assert.deepEqual(warnings, [...withoutProxies, ...withoutId]);
  assert.deepEqual(warningsOf({ ...viewers, VIEWER_ID: 'id' }), []);
  assert.deepEqual(warningsOf({ ...addresses, TRUSTED_PROXIES: 'none' }), []);
  assert.deepEqual(warningsOf({ ...addresses, PROXY_PROTOCOL: 'true' }), []);
  assert.deepEqual(
    warningsOf({ CONNECTIONS_PER_SECOND_PER_ADDRESS: '0', MAX_CONNECTIONS_PER_ADDRESS: '' }),
    [],
  );
});

test('secrets are printed nowhere', () => {
  const secret = 'hunter2';
  const config = loadConfig({
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: 'u',
    KAFKA_SASL_PASSWORD: secret,
    REDIS_URL: `redis://user:${secret}@host:6379`,
  });
  const described = describeConfig(config);
  assert.ok(!described.includes(secret), described);
  assert.match(described, /^REDIS_URL=redis:\/\/user:\*\*\*@host:6379/m);
  for (const url of [`http://user:${secret}@host`, `redis//:${secret}`, `${secret}`]) {
    const faults = faultsOf({ REDIS_URL: url }).join();
    assert.ok(faults !== '' && !faults.includes(secret), url);
  }
});

test('the table has a row for every setting, with no secret and no gap', () => {
  const names = describeConfig(loadConfig({}))
    .split('\n')
    .map((line) => line.slice(0, line.indexOf('=')));
  const rows = configMarkdown().split('\n').slice(2);
  const documented = rows.map((row) => /^\| `(\w+)` \| .+ \| .+ \| .+ \|$/.exec(row)?.[1]);
  assert.deepEqual(documented, names);
});

test('WORKERS is a number of processes, or as many as there are processors', () => {
  const redis = { REDIS_URL: 'redis://r' };
  assert.equal(loadConfig({}).WORKERS, 1);
  assert.equal(loadConfig({ ...redis, WORKERS: '3' }).WORKERS, 3);
  assert.equal(loadConfig({ ...redis, WORKERS: 'auto' }).WORKERS, 'auto');
  for (const given of ['0', 'many', '-1', '257']) {
    assertRefused({ ...redis, WORKERS: given }, [
      `WORKERS: expected a whole number from 1 to 256, or auto, got ${given}`,
    ]);
  }
});

test('several processes are refused without Kafka and Redis, as they would not get events of each other', () => {
  for (const given of ['2', 'auto']) {
    assertRefused({ WORKERS: given }, /WORKERS: expected 1, as neither KAFKA_BROKERS nor/);
  }
  assert.equal(loadConfig({ WORKERS: '2', KAFKA_BROKERS: 'k:9092' }).WORKERS, 2);
  assert.equal(loadConfig({ WORKERS: '1' }).WORKERS, 1);
});

test('the thresholds of pressure are in order', () => {
  assertRefused(
    { PRESSURE_PAUSE_PERCENT: '90' },
    /PRESSURE_PAUSE_PERCENT: expected a number from PRESSURE_REFUSE_PERCENT \(75\) to PRESSURE_SHED_PERCENT \(85\), got 90/,
  );
  assert.ok(faultsOf({ PRESSURE_REFUSE_PERCENT: '81' }).length > 0);
  assert.equal(loadConfig({ PRESSURE_PAUSE_PERCENT: '85' }).PRESSURE_PAUSE_PERCENT, 85);
});

import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { developmentEnvironment } from '../../../../src/cli/dev/environment.ts';

test('sluice dev joins a consumer group of the developer’s own, unless the environment names one', () => {
  const { KAFKA_GROUP_ID = '' } = developmentEnvironment({ KAFKA_GROUP_ID: '' }, 'graph');
  assert.match(KAFKA_GROUP_ID, /^sluice-dev-.+@.+$/);
  assert.ok(KAFKA_GROUP_ID.endsWith(`@${hostname()}`));
  assert.equal(developmentEnvironment({ KAFKA_GROUP_ID: 'ours' }, 'graph')['KAFKA_GROUP_ID'], 'ours');
});

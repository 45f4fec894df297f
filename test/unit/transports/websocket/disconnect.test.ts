import assert from 'node:assert/strict';
import test from 'node:test';
import { CloseCode } from 'graphql-ws';
import { closeLabel, DISCONNECTS } from '../../../../src/transports/websocket/disconnect.ts';

test('every close code of the gateway has a metric label of its own', () => {
  const labels = Object.values(DISCONNECTS).map(({ code }) => closeLabel(code));
  assert.deepEqual(
    labels,
    Object.values(DISCONNECTS).map(({ label }) => label),
  );
  assert.equal(new Set(labels).size, labels.length);
});

test('every close code that the protocol server uses has a metric label', () => {
  // Only clients close with these.
  const ofClients = new Set([
    CloseCode.InternalClientError,
    CloseCode.BadResponse,
    CloseCode.ConnectionAcknowledgementTimeout,
  ]);
  const codes = Object.values(CloseCode).filter((code): code is CloseCode => typeof code === 'number');
  for (const code of codes.filter((one) => !ofClients.has(one))) {
    assert.notEqual(closeLabel(code), 'other', CloseCode[code]);
  }
  assert.equal(closeLabel(4999), 'other');
});

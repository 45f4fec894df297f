import assert from 'node:assert/strict';
import test from 'node:test';
import { CloseCode } from 'graphql-ws';
import { closeLabel, DISCONNECTS } from '../../../../src/transports/websocket/disconnect.ts';

test('every end that the gateway decides on has a label of its own', () => {
  const labels = Object.values(DISCONNECTS).map(({ code }) => closeLabel(code));
  assert.deepEqual(
    labels,
    Object.values(DISCONNECTS).map(({ label }) => label),
  );
  assert.equal(new Set(labels).size, labels.length);
});

test('every end that the protocol makes on the server has a label', () => {
  // These only a client decides on.
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

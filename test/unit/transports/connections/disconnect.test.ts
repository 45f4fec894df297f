import assert from 'node:assert/strict';
import test from 'node:test';
import { CloseCode } from 'graphql-ws';
import { CLOSES, protocolLabel } from '../../../../src/transports/connections/disconnect.ts';

test('every close has labels of its own', () => {
  const labels = CLOSES.map(({ code, label }) => `${code} ${label}`);
  assert.equal(new Set(labels).size, labels.length);
  assert.equal(new Set(CLOSES.map(({ label }) => label)).size, labels.length);
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
    assert.notEqual(protocolLabel(code), 'other', CloseCode[code]);
  }
  assert.equal(protocolLabel(4999), 'other');
});

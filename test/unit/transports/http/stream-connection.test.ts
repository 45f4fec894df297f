import assert from 'node:assert/strict';
import test from 'node:test';
import { Metrics } from '../../../../src/metrics.ts';
import { systemClock } from '../../../../src/support/clock.ts';
import { Connections } from '../../../../src/transports/connections/connections.ts';
import { ConnectionMaxAge } from '../../../../src/transports/connections/max-age.ts';
import { ViewerTally } from '../../../../src/transports/connections/viewers.ts';
import { Flusher } from '../../../../src/transports/delivery/flusher.ts';
import { EVENT_STREAM } from '../../../../src/transports/http/event-stream.ts';
import type { ResponseSink } from '../../../../src/transports/http/response-sink.ts';
import { StreamConnection, type StreamServices } from '../../../../src/transports/http/stream-connection.ts';
import { FakeFrameSink } from '../../../helpers/fake-frame-sink.ts';

test('the operation of a response counts for the pod, and for a viewer that is known, until it is closed', () => {
  const connections = new Connections({
    metrics: new Metrics(),
    pingSeconds: 0,
    maxAge: new ConnectionMaxAge(0),
    clock: systemClock,
    gapClosesPerSecond: 1,
  });
  const services = { connections, flusher: new Flusher(Date.now, () => undefined), bufferBytes: 1_000 };
  const open = (tally?: ViewerTally): StreamConnection => {
    const sink = Object.assign(new FakeFrameSink(), { close: () => undefined });
    const parts = services as Partial<StreamServices> as StreamServices;
    return new StreamConnection(sink as unknown as ResponseSink, EVENT_STREAM, null, tally, parts);
  };
  const tally = new ViewerTally('ann');
  const [known, unknown] = [open(tally), open()];
  assert.deepEqual([connections.pod.operations, tally.operations, connections.size], [2, 1, 2]);
  known.onClose();
  assert.deepEqual([connections.pod.operations, tally.operations, connections.size], [1, 0, 1]);
  unknown.onClose();
  assert.deepEqual([connections.pod.operations, tally.operations, connections.size], [0, 0, 0]);
});

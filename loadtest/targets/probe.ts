/**
 * Loaded into a server under test before its own code (`node --import`): answers questions over IPC that only the
 * process itself can answer. The same for every server, and idle until it is asked.
 */
import { createHook } from 'node:async_hooks';
import cluster from 'node:cluster';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { writeHeapSnapshot } from 'node:v8';
import type { ProbeAnswers, ProbeRequest } from './probe-messages.ts';

const LOOP_RESOLUTION_MS = 10;

const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
let utilisation = performance.eventLoopUtilization();

let promises = 0;
const counting = createHook({
  init: (_id, type) => {
    if (type === 'PROMISE') promises += 1;
  },
});

const answers: {
  [Name in ProbeRequest['ask']]: (request: ProbeRequest) => ProbeAnswers[Name] | Promise<ProbeAnswers[Name]>;
} = {
  state: () => {
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    const now = performance.eventLoopUtilization();
    const loopUtilisation = performance.eventLoopUtilization(now, utilisation).utilization;
    utilisation = now;
    const loopDelayMs = Math.max(0, delay.percentile(99) / 1e6 - LOOP_RESOLUTION_MS);
    delay.reset();
    // From the first question on: its timer would be a part of what an idle process does.
    delay.enable();
    return { heapBytes: heapUsed, externalBytes: external + arrayBuffers, loopUtilisation, loopDelayMs };
  },
  collect: async () => {
    // Objects that a turn has read live until its end, and finalisers free further ones in the next turn.
    for (let round = 0; round < 4; round += 1) {
      await setImmediate();
      globalThis.gc?.();
    }
    return { heapBytes: process.memoryUsage().heapUsed };
  },
  'count-promises': () => {
    promises = 0;
    counting.enable();
    return {};
  },
  'promises-counted': () => {
    counting.disable();
    return { promises };
  },
  snapshot: (request) => {
    if ('file' in request) writeHeapSnapshot(request.file);
    return {};
  },
};

async function answer(request: ProbeRequest): Promise<void> {
  process.send?.({ answer: request.number, ...(await answers[request.ask](request)) });
}

process.on('message', (message) => {
  if (typeof message === 'object' && message !== null && 'ask' in message)
    void answer(message as ProbeRequest);
});
// The channel must not keep the server from ending. A worker of it needs its channel, also while it starts.
if (cluster.isPrimary) process.channel?.unref();

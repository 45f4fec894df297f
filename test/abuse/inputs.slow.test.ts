import assert from 'node:assert/strict';
import test from 'node:test';
import { range } from '../helpers/numbers.ts';
import { needs } from '../helpers/services.ts';
import { backEndAnswer } from './inputs/back-end.ts';
import { postBody, upgrade, webSocketMessage } from './inputs/clients.ts';
import { costOf, peakMb } from './inputs/cost.ts';
import { kafkaHeader, kafkaKey, kafkaRecord } from './inputs/kafka.ts';
import { startPod, type Pod } from './inputs/pod.ts';
import { historyList, redisMessage } from './inputs/redis.ts';
import { SHAPES, type Attacks } from './inputs/shapes.ts';

const INPUTS: Readonly<Record<string, Attacks>> = {
  'message of a WebSocket': webSocketMessage,
  'body of a POST': postBody,
  upgrade,
  'record of Kafka': kafkaRecord,
  'header of a record': kafkaHeader,
  'key of a record': kafkaKey,
  'message of Redis': redisMessage,
  'list of a history': historyList,
  'answer of a back end': backEndAnswer,
};

/** MB beyond what the pod has at its start. An attack sends more, or has more be made of what it sends. */
const MOST_MB = 256;

/** ms of an event, or of a turn; and as many times what an event takes before, as the machine may be busy with others. */
const LATEST_MS = 1_000;
const LATEST_TIMES = 50;

/** ms that an event takes while nobody attacks: the median of some. */
async function calmMs({ beat }: Pod): Promise<number> {
  const took: number[] = [];
  for (const _ of range(0, 21)) took.push(await beat());
  return took.toSorted((one, other) => one - other)[10] ?? 0;
}

test(
  'no input in any shape ends a pod, keeps events from others, or stays in memory',
  needs('kafka', 'redis'),
  async (t) => {
    const pod = await startPod(t);
    const latestMs = LATEST_MS + LATEST_TIMES * (await calmMs(pod));
    const most = MOST_MB + (await peakMb(pod));
    t.diagnostic(`bounds: ${Math.round(most)} MB, turn and event ${Math.round(latestMs)} ms`);
    const failed: string[] = [];
    for (const [input, attacks] of Object.entries(INPUTS)) {
      for (const shape of SHAPES) {
        const attack = attacks[shape];
        if (typeof attack === 'string') continue;
        const cost = await costOf(pod, () => attack(pod, t));
        const [mb, turn, slowest] = [cost.peakMb, cost.longestTurnMs, cost.slowestEventMs].map(Math.round);
        const cell = `${input}, ${shape}: ${mb} MB, turn ${turn} ms, event ${slowest} ms`;
        t.diagnostic(cell);
        const isLate = Math.max(cost.slowestEventMs, cost.longestTurnMs) > latestMs;
        if (isLate || cost.peakMb > most) failed.push(cell);
      }
    }
    assert.equal(pod.gateway.child.exitCode, null);
    assert.deepEqual(failed, [], `expected at most ${most} MB, and events and turns within ${latestMs} ms`);
  },
);

import assert from 'node:assert/strict';
import test from 'node:test';
import { quantile, range } from '../helpers/numbers.ts';
import { needs } from '../helpers/services.ts';
import { backEndAnswer } from './inputs/back-end.ts';
import { postBody, upgrade, webSocketMessage } from './inputs/clients.ts';
import { costOf, peakMb } from './inputs/cost.ts';
import { kafkaHeader, kafkaKey, kafkaRecord } from './inputs/kafka.ts';
import { startPod, type Pod } from './inputs/pod.ts';
import { historyList, redisMessage } from './inputs/redis.ts';
import { SHAPES, type Attacks } from './inputs/shapes.ts';

interface Input {
  readonly attacks: Attacks;
  /** The budget's source that some attack fills for so long that scrapes see it. */
  readonly source?: string;
}

const INPUTS: Readonly<Record<string, Input>> = {
  'message of a WebSocket': { attacks: webSocketMessage, source: 'messages' },
  'body of a POST': { attacks: postBody, source: 'bodies' },
  upgrade: { attacks: upgrade },
  'record of Kafka': { attacks: kafkaRecord, source: 'records' },
  'header of a record': { attacks: kafkaHeader },
  'key of a record': { attacks: kafkaKey },
  'message of Redis': { attacks: redisMessage },
  'list of a history': { attacks: historyList, source: 'history' },
  'answer of a back end': { attacks: backEndAnswer, source: 'answers' },
};

/** MB beyond what the pod has at its start. An attack sends more, or has more be made of what it sends. */
const MOST_MB = 320;

/**
 * ms that a turn may take, and an event, which passes through many turns and through the attacker's own process; and as many
 * times what an event takes before, as the machine may be busy with others.
 */
const LATEST_MS = { turn: 1_000, event: 3_000 };
const LATEST_TIMES = 50;

/** ms that an event takes while nobody attacks: the median of some. */
async function calmMs({ beat }: Pod): Promise<number> {
  const took: number[] = [];
  for (const _ of range(0, 21)) took.push(await beat());
  return quantile(took, 0.5);
}

test(
  'no input in any shape ends a pod, keeps events from others, or stays in memory',
  needs('kafka', 'redis'),
  async (t) => {
    const pod = await startPod(t);
    const busyMs = LATEST_TIMES * (await calmMs(pod));
    const latest = { turn: LATEST_MS.turn + busyMs, event: LATEST_MS.event + busyMs };
    const most = MOST_MB + (await peakMb(pod));
    const bounds = `${Math.round(most)} MB, turn ${Math.round(latest.turn)} ms, event ${Math.round(latest.event)} ms`;
    t.diagnostic(`bounds: ${bounds}`);
    const failed: string[] = [];
    for (const [input, { attacks, source }] of Object.entries(INPUTS)) {
      const sources = new Set<string>();
      for (const shape of SHAPES) {
        const attack = attacks[shape];
        if (typeof attack === 'string') continue;
        const cost = await costOf(pod, () => attack(pod, t));
        const [mb, turn, slowest] = [cost.peakMb, cost.longestTurnMs, cost.slowestEventMs].map(Math.round);
        const cell = `${input}, ${shape}: ${mb} MB, turn ${turn} ms, event ${slowest} ms`;
        t.diagnostic(cell);
        for (const each of cost.sources) sources.add(each);
        const isLate = cost.slowestEventMs > latest.event || cost.longestTurnMs > latest.turn;
        if (isLate || cost.peakMb > most) failed.push(cell);
      }
      if (source !== undefined && !sources.has(source)) failed.push(`${input}: no ${source} are reserved`);
      t.diagnostic(`${input}: reserved ${[...sources].join(', ')}`);
    }
    assert.equal(pod.gateway.child.exitCode, null);
    assert.deepEqual(failed, [], `expected at most ${bounds}`);
  },
);

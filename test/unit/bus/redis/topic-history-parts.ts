import type { Command, Reply } from '../../../../src/bus/redis/connection.ts';
import { BusNames } from '../../../../src/bus/redis/names.ts';
import { TopicHistory } from '../../../../src/bus/redis/topic-history.ts';
import { createLog } from '../../../../src/log.ts';
import { stillClock } from '../../support/still-clock.ts';

/** The history of the topic `kept`, and what it has sent, to which this is replied. Time stands still until the test ends a sleep. */
export function keptHistory(reply: () => Reply) {
  const sent: Command[] = [];
  const { clock, sleeps } = stillClock();
  const history = new TopicHistory({
    topic: 'kept',
    settings: { size: 10, ttlMs: 120_000, keepsAll: false },
    connection: {
      send: async (commands) => {
        sent.push(...commands);
        return commands.map(reply);
      },
    },
    names: new BusNames(''),
    stands: async () => undefined,
    heard: () => undefined,
    wasRead: () => undefined,
    clock,
    log: createLog('silent'),
  });
  return { history, sent, sleeps };
}

import {
  TransactionRefused,
  type Command,
  type CommandConnection,
} from '../../../src/bus/redis/connection.ts';
import { PublishError, type Publication, type Publisher } from '../../../src/events/publisher.ts';
import { changed, replacing } from './changed-connection.ts';
import type { Defect } from './defect.ts';
import { GROUP_DEFECTS } from './group-defects.ts';
import { HISTORY_DEFECTS } from './history-defects.ts';
import { LOG_DEFECTS } from './log-defects.ts';
import { MISSED_DEFECTS } from './missed-defects.ts';

/** Defects that the gateway had or might have. The simulation must find each of them. */
export const DEFECTS: Readonly<Record<string, Defect>> = {
  ...HISTORY_DEFECTS,
  ...LOG_DEFECTS,
  ...GROUP_DEFECTS,
  ...MISSED_DEFECTS,
  'publications are acknowledged up to the first failure, though Redis ran later ones': {
    publisher: (bus, commands) => publishingByPrefix(bus, commands),
  },
  'publications count as acknowledged whether they were or not': {
    publisher: (bus) =>
      replacing(bus, { publish: (topic, batch) => bus.publish(topic, batch).catch(() => undefined) }),
  },
  'a new partition begins at its end': {
    starts: () => ({
      decide: ({ positions }) => ({
        metadata: () => '',
        log: () => ({ resets: 0, leaderEpoch: undefined }),
        isUnnamed: () => false,
        start: (partition) => (positions[partition]?.offset === undefined ? 'end' : 'position'),
      }),
    }),
  },
  'after a lost connection the versions of topics are not compared': {
    commands: (real) =>
      changed(real, { reply: ([name], reply) => (name === 'GET' ? { value: 'same' } : reply) }),
  },
  'listeners are not told of what Redis has lost': {
    commands: (real) => changed(real, { isSent: (command) => !isAnnouncement(command) }),
  },
  'events are published to a replica as to a master': {
    commands: (real) => withoutRoles(real),
  },
  'history is read from another server than is listened to': {
    commands: (real) =>
      changed(real, {
        reply: (command, reply) => (isQuestionOfListening(command) ? { error: new Error('NOPERM') } : reply),
      }),
  },
  'a server that was a replica for a while counts as the same': {
    commands: (real) => inspecting(real, /master_replid:\w+/, 'master_replid:same'),
  },
  'a listener that is half open is not noticed': {
    listening: (real) => {
      let bytes = 0;
      return replacing(real, {
        get bytesRead() {
          bytes += 1;
          return bytes;
        },
      });
    },
  },
  'no message is taken for a repetition': {
    read: unlikeAllOthers(),
  },
};

/** Defects that one of the first seeds shows. */
export const EVIDENT: readonly string[] = [
  ...Object.keys(LOG_DEFECTS),
  'what is missed is not read, though it counts as read',
  'an event is appended, and not published',
  'an event is published, and not appended',
  'a replay ends before the last message that is kept',
  'publications are acknowledged up to the first failure, though Redis ran later ones',
  'publications count as acknowledged whether they were or not',
  'after a lost connection the versions of topics are not compared',
];

function isAnnouncement([name, channel]: Command): boolean {
  return name === 'PUBLISH' && channel?.endsWith('@gaps') === true;
}

/** Replaces a part of INFO's reply. */
function inspecting(real: CommandConnection, part: RegExp | string, other: string): CommandConnection {
  return changed(real, {
    reply: ([name], reply) =>
      name === 'INFO' && 'value' in reply ? { value: String(reply.value).replace(part, other) } : reply,
  });
}

/** Makes each connected server count as a master. */
function withoutRoles(real: CommandConnection): CommandConnection {
  const blind = inspecting(real, 'role:slave', 'role:master');
  return replacing(blind, {
    transact: async (commands) => {
      try {
        return await blind.transact(commands);
      } catch (thrown) {
        if (!(thrown instanceof TransactionRefused) || !thrown.reason.startsWith('READONLY')) throw thrown;
        return changed(blind, { isSent: ([name]) => name !== 'SET' && name !== 'DEL' }).transact(commands);
      }
    },
  });
}

function publishingByPrefix(bus: Publisher, commands: CommandConnection): Publisher {
  return replacing(bus, {
    publish: async (_topic: string, batch: readonly Publication[]) => {
      const replies = await commands.send(
        batch.map(({ channel, payload }): Command => ['PUBLISH', channel, payload]),
      );
      const failed = replies.findIndex((reply) => 'error' in reply);
      if (failed >= 0) throw new PublishError(batch.slice(failed), batch.length, new Error('refused'));
    },
  });
}

/** Gives each message another topic id. */
function unlikeAllOthers(): (payload: Buffer | string) => string {
  let messages = 0;
  return (payload) => {
    messages += 1;
    return JSON.stringify({ ...(JSON.parse(payload.toString()) as object), id: `id ${messages}` });
  };
}

/** Whether a pod publishes to itself, to see if the message arrives (RedisLink). Heartbeats are in transactions. */
function isQuestionOfListening([name, , payload]: Command): boolean {
  return name === 'PUBLISH' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(payload ?? '');
}

import type { HistoryRead } from '../../../src/bus/history.ts';
import type { Reply } from '../../../src/bus/redis/connection.ts';
import { changed, replacing } from './changed-connection.ts';
import type { Defect } from './defect.ts';
import { scripted } from './scripted.ts';

/** Defects of histories, and of clients that resume. */
export const HISTORY_DEFECTS: Readonly<Record<string, Defect>> = {
  'what was published without history does not end the epoch': scripted(
    'if not epoch or state[3] ~= version then begin() end',
    'if not epoch then begin() end',
  ),
  'events that are published again are appended again': scripted(
    "if position ~= '-1' and not isAfter(position, last) then",
    'if false then',
  ),
  'a channel that was not kept for a while counts as complete': scripted(
    "redis.call('HSET', KEYS[1], 'seq', string.format('%d', seq + 1))",
    '',
  ),
  'a deleted key is not noted': scripted('if count == 0 then delete(ARGV[index + 2]) end', ''),
  'an event is appended, and not published': scripted(
    "redis.call('PUBLISH', ARGV[at], message)",
    "if seq % 7 > 0 then redis.call('PUBLISH', ARGV[at], message) end",
  ),
  'an event is published, and not appended': scripted(
    "redis.call(ttl > 0 and 'RPUSH' or 'RPUSHX', prefix .. ARGV[at], message)",
    "(seq % 7 > 0 and redis.call(ttl > 0 and 'RPUSH' or 'RPUSHX', prefix .. ARGV[at], message) or 0)",
  ),
  'a server counts as asked though another one was': {
    commands: (real) =>
      changed(real, {
        reply: ([name, key], reply) =>
          name === 'GET' && key?.includes('@passed:') === true
            ? { value: String(Number.MAX_SAFE_INTEGER) }
            : reply,
      }),
  },
  'a history counts as complete however little of it is kept': {
    commands: (real) =>
      changed(real, { reply: ([name], reply) => (name === 'EVAL' ? allKept(reply) : reply) }),
  },
  'history is read without waiting for what was published before': {
    listening: (real) => replacing(real, { fence: async () => undefined }),
  },
  'a replay ends before the last message that is kept': {
    history: (read) => ({ ...read, channels: read.channels.map(withoutLast) }),
  },
  'a greeting’s cursor is ahead of what was heard': {
    position: ({ epoch, sequence }) => ({ epoch, sequence: sequence + 1 }),
  },
};

/** Changes the reply to a JOIN, as if each list began with the topic. */
function allKept(reply: Reply): Reply {
  if (!('value' in reply) || !Array.isArray(reply.value)) return reply;
  const begun = reply.value.map((one: unknown) =>
    Array.isArray(one) && Number(one[0]) >= 0 ? [0, ...one.slice(1)] : one,
  );
  return { value: begun };
}

function withoutLast(kept: HistoryRead['channels'][number]): HistoryRead['channels'][number] {
  return { ...kept, messages: kept.messages.slice(0, -1) };
}

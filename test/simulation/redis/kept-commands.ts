import type { Reply } from '../../../src/bus/redis/connection.ts';
import type { CommandSpec, CommandTarget } from './command-spec.ts';

/** Commands on hashes, lists and times of expiry: what scripts of histories use. */
export const KEPT_COMMANDS: Readonly<Record<string, CommandSpec>> = {
  exists: { arity: -2, run: ({ data }, keys) => ({ value: keys.filter((key) => data.has(key)).length }) },
  pexpire: {
    arity: -3,
    writes: true,
    // A replica is to let it expire at the same moment.
    replicatedAs: ({ now }, [key = '', ms]) => ['pexpireat', key, String(now + Number(ms))],
    run: ({ data, now }, [key = '', ms]) => ({ value: Number(data.expireAt(key, now + Number(ms))) }),
  },
  pexpireat: {
    arity: -3,
    writes: true,
    run: ({ data }, [key = '', at]) => ({ value: Number(data.expireAt(key, Number(at))) }),
  },
  hset: { arity: -4, writes: true, grows: true, run: (redis, args) => setFields(redis, args) },
  hget: {
    arity: 3,
    run: ({ data }, [key = '', field = '']) => ({ value: data.hash(key)?.get(field) ?? null }),
  },
  hmget: {
    arity: -3,
    run: ({ data }, [key = '', ...fields]) => {
      const hash = data.hash(key);
      return { value: fields.map((field) => hash?.get(field) ?? null) };
    },
  },
  rpush: { arity: -3, writes: true, grows: true, run: (redis, args) => push(redis, args, true) },
  rpushx: { arity: -3, writes: true, grows: true, run: (redis, args) => push(redis, args, false) },
  ltrim: { arity: 4, writes: true, run: (redis, args) => trim(redis, args) },
  lrange: {
    arity: 4,
    run: ({ data }, [key = '', from, to]) => ({ value: part(data.list(key) ?? [], from, to) }),
  },
  lindex: {
    arity: 3,
    run: ({ data }, [key = '', index]) => ({ value: data.list(key)?.at(Number(index)) ?? null }),
  },
};

function setFields({ data }: CommandTarget, [key = '', ...words]: readonly string[]): Reply {
  const hash = data.hash(key) ?? new Map<string, string>();
  if (hash.size === 0) data.set(key, hash);
  let added = 0;
  for (let index = 0; index < words.length; index += 2) {
    const [field = '', value = ''] = words.slice(index, index + 2);
    if (!hash.has(field)) added += 1;
    hash.set(field, value);
  }
  return { value: added };
}

function push({ data }: CommandTarget, [key = '', ...elements]: readonly string[], makes: boolean): Reply {
  const list = data.list(key) ?? [];
  if (list.length === 0) {
    if (!makes) return { value: 0 };
    data.set(key, list);
  }
  return { value: list.push(...elements) };
}

function trim({ data }: CommandTarget, [key = '', from, to]: readonly string[]): Reply {
  const list = data.list(key);
  if (list !== undefined) list.splice(0, list.length, ...part(list, from, to));
  if (list?.length === 0) data.delete(key);
  return { value: 'OK' };
}

/** Both ends included; negative numbers count from the end. */
function part(list: readonly string[], from: string | undefined, to: string | undefined): string[] {
  const [first, last] = [from, to].map((text) => {
    const index = Number(text);
    return index < 0 ? index + list.length : index;
  });
  return list.slice(Math.max(0, first ?? 0), Math.max(0, (last ?? 0) + 1));
}

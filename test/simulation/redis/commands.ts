import type { Keyspace } from './keyspace.ts';

/** The server that commands run on. */
export interface CommandTarget {
  readonly replicationId: string;
  role: 'master' | 'replica';
  readonly channels: ReadonlyMap<string, ReadonlySet<unknown>>;
  /** In bytes; 0: no limit. A simulated server with a limit has always reached it. */
  maxMemory: number;
  /** The command that the access list refuses. */
  denied: string | undefined;
  /** How often each command was refused. */
  readonly refusals: ReadonlyMap<string, number>;
  readonly data: Keyspace;
  readonly cluster: { reply(subcommand: string): unknown } | undefined;
  /** ms since 1970 */
  readonly now: number;
  /** Runs a script. */
  evaluate(words: readonly string[]): unknown;
  publish(channel: string, payload: string): number;
  promote(): void;
  /** Closes all connections of a kind except for the one that asks for it. */
  killOthers(kind: 'normal' | 'pubsub'): void;
}

export interface CommandSpec {
  /** The arity in COMMAND INFO: the number of words; negative: at least that number. */
  readonly arity: number;
  /** Refused by replicas, and replicated. */
  readonly writes?: boolean;
  /** Replicated, though replicas accept it from clients. */
  readonly replicates?: boolean;
  /** Refused while there is no memory. */
  readonly grows?: boolean;
  /** The words that are keys. */
  readonly keys?: 'first' | 'all';
  /** Returns the command that a replica gets in place of this one; to be called before this one runs. */
  readonly replicatedAs?: (redis: CommandTarget, args: readonly string[]) => readonly [string, ...string[]];
  /** @throws WrongType, or LuaError */
  readonly run: (redis: CommandTarget, args: readonly string[]) => unknown;
}

const ALL_KEYS = { keys: 'all' } as const;
const ONE_KEY = { keys: 'first' } as const;
const SHRINKS = { writes: true, ...ONE_KEY };
const GROWS = { writes: true, grows: true, ...ONE_KEY };

const PUBLISH: CommandSpec = {
  arity: 3,
  replicates: true,
  run: (redis, [channel = '', payload = '']) => redis.publish(channel, payload),
};

/** The commands that a simulated Redis knows: those of the bus, and of its contract. */
export const COMMANDS: Readonly<Record<string, CommandSpec>> = {
  eval: { arity: -3, run: (redis, words) => redis.evaluate(words) },
  publish: PUBLISH,
  spublish: PUBLISH,
  pubsub: {
    arity: -2,
    run: ({ channels }, [, ...asked]) =>
      asked.flatMap((channel) => [channel, channels.get(channel)?.size ?? 0]),
  },
  cluster: { arity: -2, run: ({ cluster }, [subcommand = '']) => cluster?.reply(subcommand.toLowerCase()) },
  info: {
    arity: -1,
    run: (redis, [section]) => (section === 'commandstats' ? statistics(redis) : replication(redis)),
  },

  get: { arity: 2, ...ONE_KEY, run: ({ data }, [key = '']) => data.text(key) ?? null },
  mget: { arity: -2, ...ALL_KEYS, run: ({ data }, keys) => keys.map((key) => data.text(key) ?? null) },
  set: {
    arity: -3,
    ...GROWS,
    run: ({ data }, [key = '', value = '', option]) => {
      if (option === 'NX' && data.has(key)) return null;
      data.set(key, value);
      return 'OK';
    },
  },
  del: {
    arity: -2,
    ...SHRINKS,
    ...ALL_KEYS,
    run: ({ data }, keys) => keys.filter((key) => data.delete(key)).length,
  },
  exists: { arity: -2, ...ALL_KEYS, run: ({ data }, keys) => keys.filter((key) => data.has(key)).length },
  pexpire: {
    arity: -3,
    ...SHRINKS,
    // The key expires at the same moment on a replica.
    replicatedAs: ({ now }, [key = '', ms]) => ['pexpireat', key, String(now + Number(ms))],
    run: ({ data, now }, [key = '', ms]) => Number(data.expireAt(key, now + Number(ms))),
  },
  pexpireat: {
    arity: -3,
    ...SHRINKS,
    run: ({ data }, [key = '', at]) => Number(data.expireAt(key, Number(at))),
  },
  hset: { arity: -4, ...GROWS, run: (redis, args) => setFields(redis, args) },
  hget: {
    arity: 3,
    ...ONE_KEY,
    run: ({ data }, [key = '', field = '']) => data.hash(key)?.get(field) ?? null,
  },
  hmget: {
    arity: -3,
    ...ONE_KEY,
    run: ({ data }, [key = '', ...fields]) => fields.map((field) => data.hash(key)?.get(field) ?? null),
  },
  rpush: { arity: -3, ...GROWS, run: (redis, args) => push(redis, args) },
  rpushx: {
    arity: -3,
    ...GROWS,
    run: (redis, args) => (redis.data.list(args[0] ?? '') === undefined ? 0 : push(redis, args)),
  },
  ltrim: { arity: 4, ...SHRINKS, run: (redis, args) => trim(redis, args) },
  lrange: {
    arity: 4,
    ...ONE_KEY,
    run: ({ data }, [key = '', from, to]) => part(data.list(key) ?? [], from, to),
  },
  lindex: {
    arity: 3,
    ...ONE_KEY,
    run: ({ data }, [key = '', index]) => data.list(key)?.at(Number(index)) ?? null,
  },

  /** CONFIG SET maxmemory bytes */
  config: {
    arity: -2,
    run: (redis, [, , value]) => {
      redis.maxMemory = Number(value);
      return 'OK';
    },
  },
  replicaof: {
    arity: 3,
    run: (redis, [host]) => {
      if (host === 'NO') redis.promote();
      else redis.role = 'replica';
      return 'OK';
    },
  },
  /** CLIENT KILL TYPE normal | pubsub */
  client: {
    arity: -2,
    run: (redis, [, , kind]) => {
      redis.killOthers(kind === 'pubsub' ? 'pubsub' : 'normal');
      return 1;
    },
  },
  /** ACL SETUSER default -command | +command */
  acl: {
    arity: -2,
    run: (redis, [, , rule = '']) => {
      redis.denied = rule.startsWith('-') ? rule.slice(1) : undefined;
      return 'OK';
    },
  },
};

function replication({ role, replicationId }: CommandTarget): string {
  const name = role === 'master' ? 'master' : 'slave';
  return `# Replication\r\nrole:${name}\r\nmaster_replid:${replicationId}\r\n`;
}

function statistics({ refusals }: CommandTarget): string {
  const lines = [...refusals].map(([name, count]) => `cmdstat_${name}:calls=0,rejected_calls=${count}\r\n`);
  return `# Commandstats\r\n${lines.join('')}`;
}

function setFields({ data }: CommandTarget, [key = '', ...words]: readonly string[]): number {
  const hash = data.hash(key) ?? new Map<string, string>();
  if (hash.size === 0) data.set(key, hash);
  const before = hash.size;
  for (let index = 0; index < words.length; index += 2) {
    hash.set(words[index] ?? '', words[index + 1] ?? '');
  }
  return hash.size - before;
}

function push({ data }: CommandTarget, [key = '', ...elements]: readonly string[]): number {
  const list = data.list(key) ?? [];
  if (list.length === 0) data.set(key, list);
  return list.push(...elements);
}

function trim({ data }: CommandTarget, [key = '', from, to]: readonly string[]): string {
  const list = data.list(key);
  if (list !== undefined) list.splice(0, list.length, ...part(list, from, to));
  if (list?.length === 0) data.delete(key);
  return 'OK';
}

/** Includes both ends; negative numbers count from the end. */
function part(list: readonly string[], from: string | undefined, to: string | undefined): string[] {
  const [first = 0, last = 0] = [from, to].map((text) => {
    const index = Number(text);
    return index < 0 ? index + list.length : index;
  });
  return list.slice(Math.max(0, first), Math.max(0, last + 1));
}

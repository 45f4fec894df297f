import type { Reply } from '../../../src/bus/redis/connection.ts';

/** What commands are run on: a server. */
export interface CommandTarget {
  readonly replicationId: string;
  role: 'master' | 'replica';
  readonly channels: ReadonlyMap<string, ReadonlySet<unknown>>;
  /** Bytes; 0: no limit. A simulated server with a limit has always reached it. */
  maxMemory: number;
  /** The command that the access list refuses. */
  denied: string | undefined;
  /** How often each command was refused. */
  readonly refusals: ReadonlyMap<string, number>;
  get(key: string): string | null;
  set(key: string, text: string, ttlMs?: number): void;
  delete(key: string): boolean;
  publish(channel: string, payload: string): number;
  promote(): void;
  /** Closes all connections of a kind but the one that asks for it. */
  killOthers(kind: 'normal' | 'pubsub'): void;
}

export interface CommandSpec {
  /** As COMMAND INFO has it: the number of words, negative for at least so many. */
  readonly arity: number;
  /** Refused by replicas, and replicated. */
  readonly writes?: boolean;
  /** Replicated, though replicas accept it from clients. */
  readonly replicates?: boolean;
  /** Refused while there is no memory. */
  readonly grows?: boolean;
  readonly run?: (redis: CommandTarget, args: readonly string[]) => Reply;
}

const OK: Reply = { value: 'OK' };

/** The commands that a simulated Redis knows. */
export const COMMANDS: Readonly<Record<string, CommandSpec>> = {
  ping: { arity: -1, run: () => ({ value: 'PONG' }) },
  get: { arity: 2, run: (redis, [key = '']) => ({ value: redis.get(key) }) },
  mget: { arity: -2, run: (redis, keys) => ({ value: keys.map((key) => redis.get(key)) }) },
  set: { arity: -3, writes: true, grows: true, run: (redis, args) => set(redis, args) },
  del: {
    arity: -2,
    writes: true,
    run: (redis, keys) => ({ value: keys.filter((key) => redis.delete(key)).length }),
  },
  incr: { arity: 2, writes: true, grows: true, run: (redis, [key = '']) => increment(redis, key, 1) },
  incrby: {
    arity: 3,
    writes: true,
    grows: true,
    run: (redis, [key = '', by]) => increment(redis, key, Number(by)),
  },
  publish: {
    arity: 3,
    replicates: true,
    run: (redis, [channel = '', payload = '']) => ({ value: redis.publish(channel, payload) }),
  },
  pubsub: { arity: -2, run: (redis, [, ...channels]) => ({ value: counts(redis, channels) }) },
  info: {
    arity: -1,
    run: (redis, [section]) => ({
      value: section === 'commandstats' ? statistics(redis) : replication(redis),
    }),
  },
  config: { arity: -2, run: (redis, args) => configure(redis, args) },
  replicaof: { arity: 3, run: (redis, [host = '']) => replicaOf(redis, host) },
  client: { arity: -2, run: (redis, args) => client(redis, args) },
  acl: { arity: -2, run: (redis, args) => acl(redis, args) },
};

/** SET key value [NX | XX] [EX seconds | PX ms] [GET] */
function set(redis: CommandTarget, [key = '', value = '', ...options]: readonly string[]): Reply {
  const words = options.map((word) => word.toUpperCase());
  const before = redis.get(key);
  const expiry = (word: string, unitMs: number): number | undefined => {
    const at = words.indexOf(word);
    return at < 0 ? undefined : Number(options[at + 1]) * unitMs;
  };
  const blocked = (words.includes('NX') && before !== null) || (words.includes('XX') && before === null);
  if (!blocked) redis.set(key, value, expiry('EX', 1_000) ?? expiry('PX', 1));
  if (words.includes('GET')) return { value: before };
  return blocked ? { value: null } : OK;
}

function increment(redis: CommandTarget, key: string, by: number): Reply {
  const next = Number(redis.get(key) ?? '0') + by;
  if (!Number.isInteger(next)) return { error: new Error('ERR value is not an integer or out of range') };
  redis.set(key, String(next));
  return { value: next };
}

function counts({ channels }: CommandTarget, asked: readonly string[]): (string | number)[] {
  return asked.flatMap((channel) => [channel, channels.get(channel)?.size ?? 0]);
}

function replication({ role, replicationId }: CommandTarget): string {
  const name = role === 'master' ? 'master' : 'slave';
  return `# Replication\r\nrole:${name}\r\nmaster_replid:${replicationId}\r\n`;
}

function statistics({ refusals }: CommandTarget): string {
  const lines = [...refusals].map(([name, count]) => `cmdstat_${name}:calls=0,rejected_calls=${count}\r\n`);
  return `# Commandstats\r\n${lines.join('')}`;
}

function configure(redis: CommandTarget, [, parameter, value]: readonly string[]): Reply {
  if (parameter?.toLowerCase() === 'maxmemory') redis.maxMemory = Number(value);
  return OK;
}

function replicaOf(redis: CommandTarget, host: string): Reply {
  if (host.toUpperCase() === 'NO') redis.promote();
  else redis.role = 'replica';
  return OK;
}

/** CLIENT KILL TYPE normal | pubsub */
function client(redis: CommandTarget, [, , kind]: readonly string[]): Reply {
  redis.killOthers(kind === 'pubsub' ? 'pubsub' : 'normal');
  return { value: 1 };
}

/** ACL SETUSER default -command | +command */
function acl(redis: CommandTarget, [, , rule = '']: readonly string[]): Reply {
  redis.denied = rule.startsWith('-') ? rule.slice(1) : undefined;
  return OK;
}

import type { Reply } from '../../../src/bus/redis/connection.ts';
import type { CommandSpec, CommandTarget } from './command-spec.ts';
import { KEPT_COMMANDS } from './kept-commands.ts';

const OK: Reply = { value: 'OK' };

/** The commands that a simulated Redis knows. */
export const COMMANDS: Readonly<Record<string, CommandSpec>> = {
  ...KEPT_COMMANDS,
  eval: { arity: -3, run: (redis, words) => redis.evaluate(words) },
  ping: { arity: -1, run: () => ({ value: 'PONG' }) },
  get: { arity: 2, run: ({ data }, [key = '']) => ({ value: data.text(key) ?? null }) },
  mget: { arity: -2, run: ({ data }, keys) => ({ value: keys.map((key) => data.text(key) ?? null) }) },
  set: { arity: -3, writes: true, grows: true, run: (redis, args) => set(redis, args) },
  del: {
    arity: -2,
    writes: true,
    run: ({ data }, keys) => ({ value: keys.filter((key) => data.delete(key)).length }),
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
  spublish: {
    arity: 3,
    replicates: true,
    run: (redis, [channel = '', payload = '']) => ({ value: redis.publish(channel, payload) }),
  },
  cluster: {
    arity: -2,
    run: ({ cluster }, [subcommand = '']) => ({ value: cluster?.reply(subcommand.toLowerCase()) }),
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
  const before = redis.data.text(key) ?? null;
  const expiry = (word: string, unitMs: number): number | undefined => {
    const at = words.indexOf(word);
    return at < 0 ? undefined : Number(options[at + 1]) * unitMs;
  };
  const blocked = (words.includes('NX') && before !== null) || (words.includes('XX') && before === null);
  if (!blocked) redis.data.set(key, value, expiry('EX', 1_000) ?? expiry('PX', 1));
  if (words.includes('GET')) return { value: before };
  return blocked ? { value: null } : OK;
}

function increment(redis: CommandTarget, key: string, by: number): Reply {
  const next = Number(redis.data.text(key) ?? '0') + by;
  if (!Number.isInteger(next)) return { error: new Error('ERR value is not an integer or out of range') };
  redis.data.set(key, String(next));
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

import type { Redis } from 'ioredis';

/** The work of one Redis server since it started. */
export interface RedisUsage {
  readonly cpuSeconds: number;
  /** The number of commands, with the ones in scripts and transactions. */
  readonly commands: number;
  readonly sentBytes: number;
}

/** @param client a connection to the server to be measured */
export async function redisUsage(client: Redis): Promise<RedisUsage> {
  const info = await client.info();
  const field = (name: string): number => {
    const [, value] = new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info) ?? [];
    if (value === undefined) throw new Error(`expected ${name} in what INFO tells, got nothing`);
    return Number(value);
  };
  return {
    cpuSeconds: field('used_cpu_user') + field('used_cpu_sys'),
    commands: field('total_commands_processed'),
    sentBytes: field('total_net_output_bytes'),
  };
}

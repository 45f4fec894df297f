import { IoredisCommands, IoredisListening } from './ioredis.ts';
import { RedisBus, type RedisBusOptions } from './redis-bus.ts';

interface IoredisBusOptions extends Omit<RedisBusOptions, 'commands' | 'listening'> {
  readonly url: string;
  /** Certificate authority (PEM) for `rediss:` URLs. */
  readonly ca: string | undefined;
}

/** A bus over one Redis server. */
export function ioredisBus({ url, ca, ...options }: IoredisBusOptions): RedisBus {
  const server = { url, ca, log: options.log };
  return new RedisBus({
    ...options,
    commands: new IoredisCommands(server),
    listening: new IoredisListening(server),
  });
}

import type { Command, CommandConnection, Reply } from '../../../src/bus/redis/connection.ts';

/** Returns an object like the given one, with some of its members replaced. */
export function replacing<T extends object>(real: T, members: Partial<T>): T {
  return new Proxy(real, {
    get: (_, name) => {
      if (name in members) return members[name as keyof T];
      const own: unknown = Reflect.get(real, name, real);
      return typeof own === 'function' ? (own.bind(real) as unknown) : own;
    },
  });
}

interface Changes {
  /** Returns the command that is sent in place of the given one. */
  readonly command?: (command: Command) => Command;
  readonly isSent?: (command: Command) => boolean;
  readonly reply?: (command: Command, reply: Reply) => Reply;
}

/** A connection that leaves out some commands as if it had sent them, and changes some commands and replies. */
export function changed(
  real: CommandConnection,
  { isSent = () => true, command: sentFor = (own) => own, reply = (_command, own) => own }: Changes,
): CommandConnection {
  const through =
    (run: (commands: readonly Command[]) => Promise<readonly Reply[]>) =>
    async (commands: readonly Command[]): Promise<readonly Reply[]> => {
      const sent = await run(commands.filter(isSent).map(sentFor));
      let next = 0;
      return commands.map((command): Reply => {
        if (!isSent(command)) return { value: 0 };
        const own = sent[next] ?? { value: null };
        next += 1;
        return reply(command, own);
      });
    };
  return replacing(real, {
    send: through((commands) => real.send(commands)),
    transact: through((commands) => real.transact(commands)),
  });
}

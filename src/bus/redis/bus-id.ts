import { isNotWritable, isRefusal } from './refusals.ts';
import { valueOf, type Command, type CommandConnection } from './connection.ts';

const ID = /^[\w.-]{1,64}$/;

/**
 * @param proposed id, which Redis stores if it has none
 * @returns the id that Redis stores; undefined if it has none, does not permit it, or accepts no writes
 * @throws if Redis can't be asked just now
 */
export async function busId(
  commands: CommandConnection,
  key: string,
  proposed: string | undefined,
): Promise<string | undefined> {
  const keep: readonly Command[] = proposed === undefined ? [] : [['SET', key, proposed, 'NX']];
  const replies = await commands.send([...keep, ['GET', key]]);
  const got = replies.at(-1);
  for (const reply of replies.slice(0, -1)) {
    if ('error' in reply && !isRefusal(reply) && !isNotWritable(reply.error.message)) throw reply.error;
  }
  if (isRefusal(got)) return undefined;
  const id = valueOf(got) as string | null;
  if (id !== null && !ID.test(id)) {
    throw new Error(`${key}: expected 1 to 64 letters, digits, dots, dashes and underscores, got ${id}`);
  }
  return id ?? undefined;
}

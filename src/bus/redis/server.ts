import type { CommandConnection, Reply } from './connection.ts';

export interface Server {
  /** Undefined where it may not be asked for. */
  readonly role: 'master' | 'replica' | undefined;
  /** New for each start of a Redis process; undefined where it may not be asked for. */
  readonly runId: string | undefined;
}

/**
 * Which Redis this is.
 *
 * @throws if the connection is lost
 */
export async function inspectServer(connection: CommandConnection): Promise<Server> {
  const [role, info] = (await connection.send([['ROLE'], ['INFO', 'server']])).map(known);
  const runId = /^run_id:(\w+)/m.exec(String(info))?.[1];
  return { role: role === undefined ? undefined : isMasterRole(role) ? 'master' : 'replica', runId };
}

/** @param reply to ROLE: a list that begins with `master` or `slave` */
export function isMasterRole(reply: unknown): boolean {
  return Array.isArray(reply) && reply[0] === 'master';
}

function known(reply: Reply): unknown {
  return 'error' in reply ? undefined : reply.value;
}

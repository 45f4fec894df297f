import type { Reply } from './connection.ts';

/** How a refusal begins. For a command within a script, Redis 7.0 uses other words than later versions. */
const NOT_PERMITTED =
  /^(NOPERM|ERR unknown|ERR EXEC without MULTI|ERR The user executing the script can't|ERR ACL failure in script)/i;

/** Whether Redis, or a proxy in front of it, does not permit or does not have a command. */
export function isNotPermitted(reason: string): boolean {
  return NOT_PERMITTED.test(reason);
}

/** Whether the reply is such a refusal, so that it does not answer the question. */
export function isRefusal(reply: Reply | undefined): boolean {
  return reply !== undefined && 'error' in reply && isNotPermitted(reply.error.message);
}

/**
 * Whether a master accepts no writes for now: it has no memory to spare, its disk is full, or too few replicas are
 * connected. It still accepts PUBLISH, but without memory not within a transaction.
 */
export function isNotWritable(reason: string): boolean {
  return /^(OOM|MISCONF|NOREPLICAS)/.test(reason);
}

/** Whether the server is a replica, which takes no writes. */
export function isReadOnly(reason: string): boolean {
  return reason.startsWith('READONLY');
}

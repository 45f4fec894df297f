/** Whether Redis, or a proxy in front of it, does not permit or does not have a command. */
export function isNotPermitted(reason: string): boolean {
  return /^(NOPERM|ERR unknown|ERR EXEC without MULTI)/i.test(reason);
}

/** Whether Redis has no memory to spare for a command that writes. Publishing needs none. */
export function isOutOfMemory(reason: string): boolean {
  return reason.startsWith('OOM');
}

/** Whether the server is a replica, which takes no writes. */
export function isReadOnly(reason: string): boolean {
  return reason.startsWith('READONLY');
}

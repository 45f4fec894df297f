import { hostname, userInfo } from 'node:os';

/** A consumer group of the developer's own on this machine: one that others run must not share its events with it. */
export function ownGroup(name: string): string {
  return `${name}-${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user that the system does not know.
    return String(process.getuid?.() ?? 'unknown');
  }
}

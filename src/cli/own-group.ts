import { hostname, userInfo } from 'node:os';

/** The developer's own consumer group on this machine: another gateway in the group would take some of the events. */
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

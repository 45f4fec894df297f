import type { Command } from './connection.ts';

export interface Server {
  readonly role: 'master' | 'replica';
  /** Changes with each start, and with each promotion of a replica; undefined if Redis does not tell it. */
  readonly replicationId: string | undefined;
}

/** Asks which Redis this is. */
export const INSPECTION: Command = ['INFO', 'replication'];

/** @param reply to the inspection: lines of `name:value` */
export function inspectedServer(reply: unknown): Server {
  const text = String(reply);
  return {
    role: /^role:master\r?$/m.test(text) ? 'master' : 'replica',
    replicationId: /^master_replid:(\w+)/m.exec(text)?.[1],
  };
}

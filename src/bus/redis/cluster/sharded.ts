import type { Command } from '../connection.ts';
import { APPEND, INTEREST, JOIN, KEYS_MAY_MOVE } from '../history-scripts.ts';
import { PUBLISH_ON_ALL } from '../publish-commands.ts';

const SCRIPTS = new Map(
  [APPEND, INTEREST, JOIN, PUBLISH_ON_ALL].map((script) => [script, shardedScript(script)]),
);

/** Returns a cluster's equivalent of the command: it reaches, and counts subscribers on, only the nodes of one slot. */
export function sharded(command: Command): Command {
  const [name, first = '', ...others] = command;
  switch (name) {
    case 'PUBLISH':
      return ['SPUBLISH', first, ...others];
    case 'PUBSUB':
      return ['PUBSUB', first === 'NUMSUB' ? 'SHARDNUMSUB' : first, ...others];
    case 'EVAL':
      return ['EVAL', SCRIPTS.get(first) ?? first, ...others];
    default:
      return command;
  }
}

function shardedScript(script: string): string {
  return script
    .replaceAll("'PUBLISH'", "'SPUBLISH'")
    .replaceAll("'NUMSUB'", "'SHARDNUMSUB'")
    .replace(KEYS_MAY_MOVE, 'local keysMayMove = true');
}

/** Whether a node says that the slot is elsewhere, or moves just now, or is not served. */
export function isElsewhere(reason: string): boolean {
  return /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN|ERR Script attempted to access a non local key)/.test(reason);
}

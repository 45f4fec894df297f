import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { choice, UsageError } from '../../command.ts';
import { resuming } from '../resuming.ts';
import { stock, stockEnvironment } from '../stock/stock-target.ts';
import type { Target } from '../target.ts';

const FETCHER = path.join(import.meta.dirname, '../../../../scripts/lib/peer.mjs');

/** Others that serve subscriptions of GraphQL in Node.js, fetched from npm. Each gets events as stock does, from kafkajs and Redis. */
const PEERS = ['yoga', 'mercurius'];

/** Programs that the user has. The environment variable of the name, in capitals, holds the path. */
const PROGRAMS: Readonly<Record<string, Pick<Target, 'load'>>> = {
  centrifugo: { load: (load) => ({ ...load, transport: 'centrifugo' }) },
};

/** What needs no packages of its own. */
const OWN: Readonly<Record<string, Target>> = { stock, resuming };

const KNOWN = [...Object.keys(OWN), ...PEERS, ...Object.keys(PROGRAMS)];

export const againstOption = {
  type: 'string',
  help: `servers that get the same after Sluice, with commas between: ${KNOWN.join(', ')}`,
} as const;

/** @throws UsageError unless the text names servers */
export function readAgainst(text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split(',').map((name) => choice('against', name, KNOWN));
}

/** Fetches the packages of peers at their first use. @param names that `readAgainst` has returned */
export async function targetsOf(names: readonly string[], signal: AbortSignal): Promise<Target[]> {
  const targets: Target[] = [];
  for (const name of names) targets.push(OWN[name] ?? program(name) ?? (await peer(name, signal)));
  return targets;
}

function program(name: string): Target | undefined {
  const parts = PROGRAMS[name];
  if (parts === undefined) return undefined;
  const variable = name.toUpperCase();
  const file = process.env[variable];
  if (!file) throw new UsageError(`${variable}: expected the path of the program, got nothing`);
  return {
    ...parts,
    name,
    program: [mainOf(name)],
    environment: ({ topic, ...wiring }) => ({
      ...stockEnvironment({ topic, ...wiring }),
      TOPIC: topic,
      PROGRAM: file,
    }),
  };
}

const mainOf = (name: string): string => path.join(import.meta.dirname, `${name}-main.js`);

async function peer(name: string, signal: AbortSignal): Promise<Target> {
  const fetching = promisify(execFile)(process.execPath, [FETCHER, name], { signal });
  fetching.child.stderr?.pipe(process.stderr);
  const folder = (await fetching).stdout.trim();
  return {
    name,
    program: [mainOf(name)],
    environment: (wiring) => ({ ...stockEnvironment(wiring), PEER_FOLDER: folder }),
  };
}

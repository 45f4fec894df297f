/**
 * Hostile clients, in a process of their own so that they do not slow the honest one. Arguments: port, seed, number of
 * clients at a time. Runs sessions until a message comes, then ends; reports its counts to the parent every second.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { buildASTSchema, parse } from 'graphql';
import { withGatewaySchema } from '../../src/graph/directives/definitions.ts';
import { KINDS, Session, type Kind } from './session.ts';

export type SessionCounts = Readonly<Record<Kind, number>>;

const SCHEMA = path.join(import.meta.dirname, '../../../examples/auction/schema.graphql');

const [port = 0, seed = 0, clients = 0] = process.argv.slice(2).map(Number);
const schema = buildASTSchema(withGatewaySchema(parse(readFileSync(SCHEMA, 'utf8'))));
const counts = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>;

let next = 0;
const stopping = new AbortController();
const telling = setInterval(() => process.send?.(counts), 1_000);
process.once('message', () => stopping.abort());
await Promise.all(Array.from({ length: clients }, client));
clearInterval(telling);
process.send?.(counts);
process.disconnect();

async function client(): Promise<void> {
  while (!stopping.signal.aborted) {
    const session = new Session({ port, schema, seed, number: next });
    next += 1;
    await session.run();
    counts[session.kind] += 1;
  }
}

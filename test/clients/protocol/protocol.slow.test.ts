import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from '../../helpers/services.ts';
import { holdTable } from '../table.ts';
import { CASES } from './cases.ts';
import { DIFFERENCES } from './differences.ts';
import { startGraphqlWs, startSluice } from './server.ts';
import { Session, type Outcome } from './session.ts';

const REASONS = new Map(DIFFERENCES.flatMap(({ reason, cases }) => cases.map((name) => [name, reason])));

/** What a client sees behind what it sees of the other server, too. */
function seen({ messages, close, fault }: Outcome, other: Outcome): string {
  const same = messages.findIndex((message, index) => {
    const its = other.messages[index];
    return its === undefined || textOf(message) !== textOf(its);
  });
  const own = same === -1 ? [] : messages.slice(same).map(textOf);
  if (fault !== undefined) own.push(`no connection: ${fault}`);
  else if (close !== undefined) own.push(`closed with ${close.code}: ${close.reason}`);
  return own.length === 0 ? 'nothing more' : own.map((each) => `\`${each}\``).join(', ');
}

const textOf = ({ type, payload }: Outcome['messages'][number]): string =>
  payload === undefined ? type : `${type} ${JSON.stringify(payload)}`;

test(
  'a client sees the same of Sluice as of the server of graphql-ws, but for what is listed',
  needs(),
  async (t) => {
    // The server of graphql-ws prints what fails in it.
    t.mock.method(console, 'error', () => undefined);
    const [graphqlWs, sluice] = await Promise.all([startGraphqlWs(t), startSluice(t)]);
    const rows: string[][] = [];
    for (const [name, script] of Object.entries(CASES)) {
      await t.test(name, async () => {
        const [theirs, ours] = await Promise.all(
          [graphqlWs, sluice].map((server) => Session.play(server, script)),
        );
        assert.ok(theirs !== undefined && ours !== undefined);
        const reason = REASONS.get(name);
        if (reason === undefined) assert.deepEqual(ours, theirs);
        else {
          assert.notDeepEqual(ours, theirs, 'this is listed as a difference, and is none');
          rows.push([name, seen(theirs, ours), seen(ours, theirs), reason]);
        }
      });
    }
    await t.test('docs/reference/protocol.md lists each difference, with its reason', async () => {
      const unknown = [...REASONS.keys()].filter((name) => !Object.hasOwn(CASES, name));
      assert.deepEqual(unknown, []);
      await holdTable(
        'differences',
        ['case', 'graphql-ws', 'Sluice', 'why'],
        rows,
        'docs/reference/protocol.md',
      );
    });
  },
);

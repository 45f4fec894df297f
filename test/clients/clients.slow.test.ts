import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { test, type TestContext } from 'node:test';
import { startGraph } from '../e2e/graph-gateway.ts';
import { eventually } from '../helpers/eventually.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { range } from '../helpers/numbers.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { SECRET, signToken } from '../helpers/tokens.ts';
import { pagesOrigin } from './page.ts';
import type { Program } from './program.ts';
import { IN_FULL, ROWS, type Row } from './rows.ts';
import { holdTable } from './table.ts';

const SCHEMA = `
  type Subscription { said(room: ID!): Said @event(topic: "said", key: "room") }
  type Said { room: ID! n: Int! text: String! listener: String }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    resolvers: { Said: { listener: (_said, _args, { viewer }) => viewer.id } },
  });
`;

const SAID = 'subscription Said($room: ID!) { said(room: $room) { __typename room n text listener } }';
const INVALID = 'subscription Said($room: ID!) { said(room: $room) { nothing } }';

const EVENTS = 5;

/** The first event is not compressed, the others are, where the client offers it. */
const textOf = (n: number): string => `${n}: Grüße, 日本語, 🎉 "\\\n\u2028${' quiet street'.repeat(n * 20)}`;

const nameOf = ({ client, version, transport }: Row): string => `${client} ${version} by ${transport}`;

/** A client at work. It listens to a room of its own, and is called like it. */
class Member {
  readonly row: Row;
  readonly room: string;
  readonly program: Program;

  constructor(row: Row, room: string, program: Program) {
    this.row = row;
    this.room = room;
    this.program = program;
  }

  subscribe(id: string, query: string): void {
    this.program.command({ id, query, variables: { room: this.room } });
  }

  said(n: number): object {
    return { said: { __typename: 'Said', room: this.room, n, text: textOf(n), listener: this.room } };
  }

  async post(gateway: GatewayProcess, n: number): Promise<void> {
    await gateway.postEvent('said', { room: this.room, n, text: textOf(n) });
  }

  /** Waits until so many subscriptions of this client are open at a pod. */
  async untilSubscribed(gateway: GatewayProcess, count: number): Promise<void> {
    await eventually(async () => {
      const response = await fetch(`${gateway.adminUrl}/debug/hub?limit=1000`);
      const { groups } = (await response.json()) as {
        groups: { largest: { variables: { room?: string }; subscribers: number }[] };
      };
      const own = groups.largest.filter(({ variables }) => variables.room === this.room);
      const subscribers = own.reduce((sum, group) => sum + group.subscribers, 0);
      assert.equal(subscribers, count, `subscriptions of a client that has told ${this.program}`);
    });
  }
}

/** @param origins of pages, and of Netty's WebSocket, which says that it is of the gateway's own */
const startPod = (t: TestContext, origins: readonly string[]): Promise<GatewayProcess> =>
  startGraph(
    t,
    { 'schema.graphql': SCHEMA, 'graph.js': GRAPH },
    { AUTH_SECRET: SECRET, ORIGINS: origins.join(','), DRAIN_SECONDS: '1', COMPRESSION_MIN_BYTES: '200' },
  );

/** What a client does at a pod, one after the other. */
const CHECKS: Readonly<Record<string, (member: Member, pod: GatewayProcess) => Promise<void>>> = {
  async 'events in order'(member, pod) {
    member.subscribe('1', SAID);
    await member.untilSubscribed(pod, 1);
    for (const n of range(0, EVENTS)) await member.post(pod, n);
    const data = await member.program.untilData('1', EVENTS);
    assert.deepEqual(
      data,
      range(0, EVENTS).map((n) => member.said(n)),
    );
  },
  async errors(member) {
    member.subscribe('2', INVALID);
    const { error } = await member.program.untilEnd('2');
    assert.match(error ?? '', member.row.errors);
  },
  async unsubscribing(member, pod) {
    member.program.command({ id: '1', stop: true });
    await member.untilSubscribed(pod, 0);
    member.subscribe('3', SAID);
    await member.untilSubscribed(pod, 1);
    await member.post(pod, EVENTS);
    assert.deepEqual(await member.program.untilData('3', 1), [member.said(EVENTS)]);
    assert.equal(member.program.dataOf('1').length, EVENTS);
  },
};

async function afterDrain(member: Member, pod: GatewayProcess): Promise<void> {
  if (member.row.afterDrain === 'ends') {
    await member.program.untilEnd('3');
    return;
  }
  if (member.row.afterDrain === 'silent end') {
    await member.untilSubscribed(pod, 0);
    assert.deepEqual(await member.program.untilData('3', 1), [member.said(EVENTS)]);
    return;
  }
  await member.untilSubscribed(pod, 1);
  await member.post(pod, EVENTS + 1);
  assert.deepEqual(await member.program.untilData('3', 2), [member.said(EVENTS), member.said(EVENTS + 1)]);
}

/** A row's test is over once the client has gone through a drain of its pod, which is the same for all. */
test('clients work with a gateway, and go on as documented after their pod was drained', async (t) => {
  const relay = await TcpRelay.start(t);
  const origins = [await pagesOrigin(), `http://127.0.0.1:${relay.port}`];
  const [first, second] = await Promise.all([startPod(t, origins), startPod(t, origins)]);
  relay.moveTo(first.port);
  setMaxListeners(0, process);
  const results = new Map<Row, string[]>();
  const members: Member[] = [];

  await t.test('at a pod', { concurrency: 4 }, async (at) => {
    const rows = ROWS.map((row, index) =>
      at.test(nameOf(row), row.needs, async () => {
        const room = `${index}-ä`;
        const token = await signToken({ sub: room });
        const program = await row.start(t, { gateway: `127.0.0.1:${relay.port}`, token });
        const member = new Member(row, room, program);
        for (const check of Object.values(CHECKS)) await check(member, first);
        results.set(row, Object.keys(CHECKS));
        members.push(member);
      }),
    );
    await Promise.all(rows);
  });

  relay.moveTo(second.port);
  await first.stop();

  await t.test('after it was drained', { concurrency: true }, async (at) => {
    const rows = members.map((member) =>
      at.test(nameOf(member.row), async () => {
        await afterDrain(member, second);
        results.get(member.row)?.push('drain');
      }),
    );
    await Promise.all(rows);
  });

  const missing = ROWS.some(({ needs: { skip } }) => skip !== false) && 'some clients could not be had';
  await t.test('docs/reference/clients.md has what was found', { skip: missing }, async () => {
    const columns = ['client', 'version', 'transport', ...Object.keys(CHECKS), 'after a drain'];
    const rows = ROWS.map((row) => {
      const passed = results.get(row);
      const found = Object.keys(CHECKS).map((check) => {
        if (passed?.includes(check) !== true) return 'no';
        return check === 'errors' && row.errors !== IN_FULL ? 'without their reason' : 'yes';
      });
      const drained = passed?.includes('drain') ? row.afterDrain : 'not tried';
      return [row.client, row.version, row.transport, ...found, drained];
    });
    await holdTable('subscriptions', columns, rows);
  });
});

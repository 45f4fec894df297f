import assert from 'node:assert/strict';
import test from 'node:test';
import type { Explanation } from '../../src/explain/explanation.ts';
import { explanationLines } from '../../src/cli/explanation-lines.ts';
import { merged } from '../../src/explain/merged.ts';
import { eventually } from '../helpers/eventually.ts';
import { runCli, type GatewayProcess } from '../helpers/gateway.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { answerOf, BID, gatewayOf, idsOf, publish, subscribed } from './explained-bids.ts';

/** Waits until it would say all this of the gateway's answer: an event is accepted before it has been delivered. */
async function untilSaid(
  gateway: GatewayProcess,
  id: string,
  offset: number,
  ...says: readonly RegExp[]
): Promise<void> {
  await eventually(async () => {
    const explanation = await answerOf(gateway, id, offset);
    const process = `${gateway.adminUrl}, worker 1`;
    const said = explanationLines(merged({ process, explanation }, [])).join('\n');
    for (const part of says) assert.match(said, part);
  });
}

const CASES: readonly (readonly [what: string, query: string, says: readonly RegExp[]])[] = [
  [
    'was filtered out, with the values that were compared',
    'subscription { large(min: 100) { n } }',
    [/large: filtered out/, /amount\.value gte \$min \(100\): got 42, fails/],
  ],
  [
    'is not for a viewer that does not own it',
    'subscription { own { n } }',
    [
      /own: unauthorised/,
      /filter: @auth keeps it back from this viewer/,
      /bidder owner \$viewer\.id \("ann"\): got "bob", fails/,
    ],
  ],
  [
    'was delivered, and with whom it is shared',
    'subscription { bid { n who } }',
    [
      /bid: delivered/,
      /consumed at 20.*: routed\n +decode: it was decoded\n/,
      /route: by auction_id "7" to sluice:bids, sluice:bids:auction_id=7/,
      /publish: the bus has acknowledged it/,
      /its group has 1 subscriber; 1 execution so far/,
      /executed for this subscription alone: the event is for no other one/,
      /handed to the connection at 20/,
      /written to its socket by 20.*: it has sent all of it/,
    ],
  ],
  [
    'could not be joined',
    'subscription { bid { auction { name } } }',
    [
      /bid: executed with an error/,
      /fetch: auctions was asked for 1 field of entities, and answered after \d+ ms/,
      /fetch: auctions failed for Auction \{"id":"?7"?\}: The back end auctions is not available\./,
      /error: bid\.auction\.name: The back end auctions is not available\./,
    ],
  ],
  ['is of another topic', 'subscription { sale { n } }', [/sale: other topic/, /sale gets events of sales/]],
];

for (const [what, query, says] of CASES) {
  test(`an event that ${what} is explained`, async (t) => {
    const gateway = await gatewayOf();
    const id = await subscribed(t, gateway, query);
    // The first question begins the recording.
    const [before] = (await answerOf(gateway, id, 1_000_000)).subscriptions;
    assert.ok(['not recorded', 'other topic'].includes(before?.verdict ?? ''));
    await untilSaid(gateway, id, await publish(gateway, BID), ...says);
  });
}

test('a subscription that @auth has refused is told as such, though there is none', async (t) => {
  const gateway = await gatewayOf();
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  const [id = ''] = (await idsOf(gateway)).slice(-1);
  socket.subscribe('1', 'subscription Secret { secret { n } }');
  await socket.until(({ type }) => type === 'error');
  await untilSaid(
    gateway,
    id,
    await publish(gateway, BID),
    /^ {2}secret of Secret: unauthorised$/m,
    /auth: @auth refused it at 20.*, when the client subscribed, with FORBIDDEN: The viewer may not use Subscription\.secret\./,
  );
});

test('the command line explains an event, and asks the pod for it', async (t) => {
  const gateway = await gatewayOf();
  const id = await subscribed(t, gateway, 'subscription { bid { n } }');
  await answerOf(gateway, id, 1_000_000);
  const offset = await publish(gateway, BID);
  await untilSaid(gateway, id, offset, /bid: delivered/);
  const args = ['--connection', id, '--topic', 'bids', '--partition', '0', '--offset', `${offset}`];
  const { code, stdout, stderr } = await runCli(t, ['explain', ...args, '--url', gateway.adminUrl]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, new RegExp(`^bids 0/${offset}, connection ${id} of ${gateway.adminUrl}, worker 1\n`));
  assert.match(stdout, /bid: delivered/);
});

test('the last events of a topic are explained, and those of a key, though nothing was recorded', async (t) => {
  const gateway = await gatewayOf();
  const id = await subscribed(t, gateway, 'subscription { large(min: 100) { n } }');
  const ask = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCli(t, ['explain', ...args, '--url', gateway.adminUrl]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const offsets: number[] = [];
  for (const auctionId of ['first', 'S1', 'S1', 'other', 'last']) {
    offsets.push(await publish(gateway, { ...BID, auctionId }));
  }
  const [, first, second, , last] = offsets;
  await eventually(async () => {
    const said = await ask('--connection', id, '--topic', 'bids', '--key', 'S1');
    const heads = [...said.matchAll(/^bids 0\/(\d+), connection (.*) of /gm)];
    assert.deepEqual(
      heads.map(([, offset, connection]) => [offset, connection]),
      [
        [`${first}`, id],
        [`${second}`, id],
      ],
    );
    assert.match(said, /route: by auction_id "S1" to sluice:bids, sluice:bids:auction_id=S1\n/);
    assert.match(said, /publish: the bus has acknowledged it/);
    assert.match(said, /channel: it came over sluice:bids at 20/);
    assert.match(said, /large: filtered out\n/);
    assert.match(said, /filter: computed now, with the viewer as it is now: @filter keeps the event back\n/);
    assert.match(said, /amount\.value gte \$min \(100\): got 42, fails\n/);
    assert.match(said, /of the last events it keeps \d+ consumed since 20.*, \d+ that came since 20/);
  });
  const all = await ask('--topic', 'bids');
  assert.match(all, new RegExp(`^bids 0/${last}\n  consumed at 20`, 'm'));
  assert.equal([...all.matchAll(/^bids 0\/\d+$/gm)].length, 5);
  const json = JSON.parse(await ask('--topic', 'bids', '--key', 'S1', '--json')) as readonly Explanation[];
  assert.deepEqual(
    json.map(({ event }) => event.offset),
    [first, second],
  );
  const none = await ask('--topic', 'bids', '--key', 'none');
  assert.match(none, /^bids: none of the last events of the key "none" in the processes asked\n/);
});

test('what is asked wrongly is refused with what was expected', async (t) => {
  const gateway = await gatewayOf();
  const { code, stderr } = await runCli(t, ['explain', '--connection', '1']);
  assert.deepEqual([code, /expected --topic, got nothing/.test(stderr)], [2, true]);
  for (const [wrong, expected] of [
    [['--offset', '1'], /expected --partition with --offset, got nothing/],
    [['--offset', '1', '--partition', '0', '--key', 'S1'], /expected --key or --offset, got both/],
  ] as const) {
    const refused = await runCli(t, ['explain', '--topic', 'bids', ...wrong]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, expected);
  }
  const args = ['--connection', 'none', '--topic', 'bids', '--partition', '0', '--offset', '0'];
  const unknown = await runCli(t, ['explain', ...args, '--url', gateway.adminUrl]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /connection: expected the id of one that is open in this process .*got none/);
  const away = await runCli(t, ['explain', ...args, '--url', 'http://127.0.0.1:1']);
  assert.equal(away.code, 1);
  const wrong = await fetch(`${gateway.adminUrl}/debug/explain?connection=1&topic=bids&partition=x&offset=0`);
  assert.equal(wrong.status, 400);
});

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SluiceError } from '../../../src/errors.ts';
import { eventsRoute, type EventsOptions } from '../../../src/server/events-route.ts';
import { OriginCheck } from '../../../src/server/origin-check.ts';
import { ownBytes } from '../../../src/support/byte-budget.ts';
import { ask, errorOf, serve, type Answer, type Ask } from './serve.ts';
import { turnsUntil } from '../../helpers/turns-until.ts';

interface Post extends Ask {
  readonly path?: string;
}

async function served(t: TestContext, options: Partial<EventsOptions> = {}) {
  const accepted: unknown[][] = [];
  const events: EventsOptions = {
    topics: () => ['bids', 'a/b'],
    shows: (topic) => ['bids', 'a/b'].includes(topic),
    accept: async (topic, value, key) => void accepted.push([topic, value.toString(), key]),
    bodies: ownBytes(10_000),
    fromAnywhere: false,
    ...options,
  };
  const port = await serve(t, [eventsRoute(events, new OriginCheck([]), 1_000)]);
  const post = ({ path = '/events/bids', headers, ...rest }: Post = {}): Promise<Answer> => {
    const json = { 'content-type': 'application/json', ...headers };
    return ask(port, path, { method: 'POST', body: '{"amount":1}', headers: json, ...rest });
  };
  return { post, accepted };
}

describe('POST /events/<topic>', () => {
  it('answers 503 and when to try again while no events are accepted, and takes them afterwards', async (t) => {
    let busy: string | undefined = 'this pod is under pressure';
    const { post, accepted } = await served(t, { refusal: () => busy });
    const refused = await post();
    assert.equal(refused.status, 503);
    assert.match(String(refused.headers['retry-after']), /^\d+$/);
    assert.equal(accepted.length, 0);
    busy = undefined;
    assert.equal((await post()).status, 202);
    assert.deepEqual(accepted, [['bids', '{"amount":1}', undefined]]);
  });

  it('reads no body before there is room for it in the process', async (t) => {
    const bodies = ownBytes(20);
    const others = bodies.tryReserve(20, {});
    const { post, accepted } = await served(t, { bodies });
    const posting = post();
    await turnsUntil(() => bodies.waiting > 0);
    assert.deepEqual(accepted, []);
    others?.release();
    assert.equal((await posting).status, 202);
    assert.deepEqual([accepted.length, bodies.held], [1, 0]);
  });

  it('takes the Kafka key from the query, and topics in percent-encoding', async (t) => {
    const { post, accepted } = await served(t);
    await post({ path: '/events/a%2Fb?key=x%26y' });
    assert.deepEqual(accepted, [['a/b', '{"amount":1}', 'x&y']]);
  });

  it('answers 404 to an unknown topic and names the known ones', async (t) => {
    const { post } = await served(t);
    const answer = await post({ path: '/events/bets' });
    assert.equal(answer.status, 404);
    assert.equal(errorOf(answer), 'expected a topic of the graph (bids, a/b), got "bets"');
    assert.equal((await post({ path: '/events/%E0%A4%A' })).status, 404);
  });

  for (const [what, error, status, told] of [
    [
      '400 with the reason to an event that cannot be decoded',
      new SluiceError('UNDECODABLE', 'no JSON'),
      400,
      'no JSON',
    ],
    ['500 without details to any other failure', new Error('bus closed'), 500, 'internal error'],
  ] as const) {
    it(`answers ${what}`, async (t) => {
      const { post } = await served(t, { accept: () => Promise.reject(error) });
      const answer = await post({ body: 'not json' });
      assert.deepEqual([answer.status, errorOf(answer)], [status, told]);
    });
  }

  it('refuses an event that is too large, and pages of another host', async (t) => {
    const { post, accepted } = await served(t);
    assert.equal((await post({ body: 'x'.repeat(1_001) })).status, 413);
    assert.equal((await post({ headers: { origin: 'https://evil.example' } })).status, 403);
    assert.deepEqual(accepted, []);
  });

  it('refuses content types that any page may send without asking', async (t) => {
    const { post, accepted } = await served(t);
    const statusOf = async (type: string) => (await post({ headers: { 'content-type': type } })).status;
    for (const type of ['text/plain', 'application/jsonp']) assert.equal(await statusOf(type), 415);
    assert.equal(accepted.length, 0);
    for (const type of ['application/json; charset=utf-8', 'application/octet-stream']) {
      assert.equal(await statusOf(type), 202);
    }
    assert.equal(accepted.length, 2);
  });

  it('refuses events of other machines, unless the settings allow them', async (t) => {
    // loopback.test.ts has all that tells whether a request is from this machine.
    const headers = { host: 'gateway.example' };
    const { post, accepted } = await served(t);
    const answer = await post({ headers });
    assert.equal(answer.status, 403);
    assert.match(errorOf(answer), /EVENTS_FROM_ANYWHERE/);
    assert.deepEqual(accepted, []);
    const open = await served(t, { fromAnywhere: true });
    assert.equal((await open.post({ headers })).status, 202);
  });
});

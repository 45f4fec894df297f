import assert from 'node:assert/strict';
import { buildSchema, GraphQLError } from 'graphql';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, it, type TestContext } from 'node:test';
import { TokenRefusal } from '../../../../src/auth/refusal.ts';
import { Turns, type Job } from '../../../../src/support/turns.ts';
import { RequestBytes, type ReadBody } from '../../../../src/transports/http/request-bytes.ts';
import type { HttpTransportOptions } from '../../../../src/transports/http/transport.ts';
import { CLIENT, clientOn, post, resultOf, sourceOf, transports } from './whole.ts';
import { deferred } from '../../../helpers/deferred.ts';

const schema = buildSchema('type Query { slow(of: [Int!]): String }');
const field = schema.getQueryType()?.getFields()['slow'];
assert.ok(field);
let answered = deferred<string>();
field.resolve = () => answered.promise;

const { transportWith } = transports(schema, { slow: '{ slow }' });
const SLOW = JSON.stringify({ query: '{ slow }' });
const ANN = { viewer: {}, token: undefined };

/** Bodies that are here once a test says so. */
function bodies() {
  const asked: (() => void)[] = [];
  const readBody: ReadBody = (signal) =>
    new Promise((resolve, reject) => {
      asked.push(() => resolve(Buffer.from(SLOW)));
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  return { asked, readBody };
}

/** A transport over a source of so many bytes. */
function over(bytes: number, options: Partial<HttpTransportOptions> = {}) {
  const source = sourceOf(bytes);
  const reasons: string[] = [];
  const metrics = { refused: (reason: string) => void reasons.push(reason) };
  const transport = transportWith({
    bytes: new RequestBytes({ source, maxPayloadBytes: 1_000, metrics }),
    ...options,
  });
  return { source, transport, reasons };
}

const length = (bytes: number) => post({ 'content-length': String(bytes) });

async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await nextTurn();
}

describe('the bytes of requests', () => {
  it('are neither reserved nor read before it is known who asks', async () => {
    const identified = deferred<typeof ANN | TokenRefusal>();
    const { asked, readBody } = bodies();
    const { source, transport } = over(1_000, { authenticator: { identify: () => identified.promise } });
    const response = transport.respond(length(100), readBody, CLIENT);
    await settled();
    assert.deepEqual([source.held, asked.length], [0, 0]);
    identified.resolve(new TokenRefusal('The token has expired'));
    assert.equal((await response).status, 401);
    assert.deepEqual([source.held, asked.length], [0, 0]);
  });

  it('are reserved before they are read, as many as are declared, or as may come, until there is a result', async () => {
    answered = deferred();
    const { asked, readBody } = bodies();
    const { source, transport } = over(1_640);
    const first = transport.respond(length(100), readBody, CLIENT);
    const second = transport.respond(post(), readBody, clientOn({}));
    const third = transport.respond(length(600), readBody, clientOn({}));
    await settled();
    assert.deepEqual([source.held, source.waiting, asked.length], [1_100, 1, 2]);
    asked[0]?.();
    await settled();
    assert.ok(source.held > 1_000, 'while it is executed');
    answered.resolve('done');
    assert.equal((await first).status, 200);
    await settled();
    assert.equal(asked.length, 3);
    for (const come of asked) come();
    await Promise.all([second, third]);
    assert.equal(source.held, 0);
  });

  it('are those of values while a query is executed, which take more than their text', async () => {
    answered = deferred();
    const { source, transport, reasons } = over(10_000);
    const query = 'query ($of: [Int!]) { slow(of: $of) }';
    const ask = (count: number) =>
      transport.respond(post(), JSON.stringify({ query, variables: { of: Array(count).fill(1) } }), CLIENT);
    const first = ask(150);
    await settled();
    assert.ok(source.held > 20 * 300 && source.held < 10_000, `${source.held} bytes`);
    const second = await ask(150);
    assert.deepEqual([second.status, second.headers['retry-after']], [503, '1']);
    assert.equal(resultOf(second).errors?.[0]?.extensions?.code, 'POD_FULL');
    assert.deepEqual(reasons, ['request_bytes']);
    answered.resolve('done');
    assert.equal((await first).status, 200);
    assert.equal(source.held, 0);
  });

  it('are given back when their client leaves, while it waits for room or for its turn', async () => {
    const jobs = new Set<Job>();
    let isIdentifying = true;
    const turns = {
      run: (_owner: object, job: Job) => {
        if (isIdentifying) job();
        else jobs.add(job);
        return { value: job, previous: undefined, next: undefined };
      },
      leave: (_owner: object, { value }: { readonly value: Job }) => void jobs.delete(value),
      of: () => assert.fail('no query begins'),
      countUnmeasured: () => undefined,
    };
    let waiting = 0;
    const counted = { enter: () => void (waiting += 1), leave: () => void (waiting -= 1) };
    const { source, transport } = over(100, { turns, waiting: counted });
    const [forTurn, forRoom] = [new AbortController(), new AbortController()];
    const { asked, readBody } = bodies();
    const first = transport.respond(length(100), SLOW, clientOn({}, forTurn.signal));
    const second = transport.respond(length(100), readBody, clientOn({}, forRoom.signal));
    isIdentifying = false;
    await settled();
    assert.deepEqual([jobs.size, source.held, source.waiting, waiting], [1, 100, 1, 2]);
    forRoom.abort();
    await second;
    assert.deepEqual([source.waiting, asked.length, waiting], [0, 0, 1]);
    forTurn.abort();
    await first;
    assert.deepEqual([jobs.size, source.held, waiting], [0, 0, 0]);
  });

  it('are given to clients in turn, however many connections one has', async () => {
    answered = deferred();
    const { source, transport } = over(1_000);
    const began: string[] = [];
    const [ann, bob] = ['203.0.113.1', '198.51.100.1'];
    const responses = [ann, ann, ann, bob].map((address) => {
      const readBody: ReadBody = async () => {
        began.push(address);
        return Buffer.from(SLOW);
      };
      return transport.respond(length(900), readBody, clientOn({}, undefined, address));
    });
    await settled();
    answered.resolve('done');
    await Promise.all(responses);
    assert.deepEqual([began, source.held], [[ann, bob, ann, ann], 0]);
  });

  it('are those of another client when one sends slowly and that one waits', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { readBody } = bodies();
    const { source, transport, reasons } = over(100);
    const slow = transport.respond(length(100), readBody, clientOn({}));
    await settled();
    t.mock.timers.tick(60_000);
    await settled();
    assert.equal(source.held, 100, 'as long as nobody else waits');
    answered = deferred();
    answered.resolve('done');
    const other = transport.respond(length(100), SLOW, clientOn({}));
    await settled();
    t.mock.timers.tick(5_000);
    assert.equal((await slow).status, 408);
    assert.deepEqual(reasons, ['request_bytes']);
    assert.equal((await other).status, 200);
  });

  it('are not executed once the identity was revoked, though it was valid before they were read', async (t) => {
    const { asked, readBody } = bodies();
    let isRevoked = false;
    const { transport } = over(1_000, {
      authenticator: {
        identify: async () => ANN,
        refusalOf: () => (isRevoked ? new TokenRefusal('Access was revoked') : undefined),
      },
      admission: { prepare: () => assert.fail('expected no look at the document') },
    });
    t.after(() => asked.forEach((come) => come()));
    const response = transport.respond(length(100), readBody, CLIENT);
    await settled();
    isRevoked = true;
    asked[0]?.();
    assert.equal((await response).status, 401);
  });
});

describe('the turns of requests', () => {
  it('are their owner’s, who is busy with one while another owner has its turn', async (t: TestContext) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let now = 1;
    const turns = new Turns({ msPerSecond: 50, now: () => now });
    const began: object[] = [];
    const [greedy, other] = [clientOn({}), clientOn({})];
    const { transport } = over(100_000, {
      turns,
      admission: {
        prepare: ({ query }) => {
          began.push(query === '{ slow }' ? greedy : other);
          now += 100;
          return [new GraphQLError('not now')];
        },
      },
    });
    const ask = (query: string, client: typeof greedy) =>
      transport.respond(post(), JSON.stringify({ query }), client);
    const asked = Array.from({ length: 10 }, () => ask('{ slow }', greedy));
    await settled();
    assert.deepEqual(began, [greedy, greedy, greedy], 'the share of five seconds at once');
    await ask('{ other }', other);
    assert.deepEqual(began.slice(3), [other]);
    for (let second = 0; second < 20; second += 1) {
      now += 1_000;
      t.mock.timers.tick(1_000);
      await settled();
    }
    await Promise.all(asked);
  });
});

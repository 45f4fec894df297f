import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pageScript } from '../page-script.ts';

interface Snapshot {
  readonly phase: string;
  readonly error: string | undefined;
  readonly count: number;
  readonly entries: readonly { number: number; at: number; result?: unknown; close?: string }[];
}

interface Observer {
  next(result: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

interface EventStream {
  snapshot(): Snapshot;
  watch(listener: () => void): () => void;
  start(operation: object, params?: object): { subscribe(observer: Observer): { unsubscribe(): void } };
  clear(): void;
}

interface ClientOptions {
  readonly url: string;
  readonly connectionParams: object | undefined;
  readonly shouldRetry: (event: object) => boolean;
  readonly on: { connected(): void; closed(event: { code: number; reason: string }): void };
}

const { EventStream } = await pageScript<{ EventStream: new (options: object) => EventStream }>(
  'graphiql/event-stream.js',
);

/** A stream over a client that does what the test says, with what GraphiQL has been shown. */
class Page {
  readonly stream: EventStream;
  readonly shown: unknown[] = [];
  readonly #clients: { options: ClientOptions; sink: Observer; left: boolean }[] = [];
  readonly #frames: (() => void)[] = [];
  #time = 0;

  constructor() {
    this.stream = new EventStream({
      createClient: (options: ClientOptions) => ({
        subscribe: (_operation: object, sink: Observer) => {
          const client = { options, sink, left: false };
          this.#clients.push(client);
          return () => {
            client.left = true;
            sink.complete(); // As graphql-ws does.
          };
        },
      }),
      url: 'ws://gateway/graphql',
      now: () => (this.#time += 1),
      nextFrame: (draw: () => void) => this.#frames.push(draw),
    });
  }

  run(connectionParams?: object): { unsubscribe(): void } {
    return this.stream.start({ query: 'subscription { tick }' }, connectionParams).subscribe({
      next: (result) => this.shown.push(result),
      error: (error) => this.shown.push({ error }),
      complete: () => this.shown.push('complete'),
    });
  }

  /** The latest one. */
  get client() {
    const client = this.#clients.at(-1);
    assert.ok(client);
    return client;
  }

  get state(): Snapshot {
    return this.stream.snapshot();
  }

  draw(): void {
    for (const frame of this.#frames.splice(0)) frame();
  }
}

function running(): Page {
  const page = new Page();
  page.run();
  return page;
}

const tick = (n: number) => ({ data: { tick: n } });

describe('the event stream of GraphiQL', () => {
  it('connects with the parameters that it is given, and tells connecting from waiting', () => {
    const page = new Page();
    assert.equal(page.state.phase, 'idle');
    page.run({ authorization: 'Bearer t' });
    assert.equal(page.client.options.url, 'ws://gateway/graphql');
    assert.deepEqual(page.client.options.connectionParams, { authorization: 'Bearer t' });
    assert.equal(page.state.phase, 'connecting');
    page.client.options.on.connected();
    assert.deepEqual(page.state, { phase: 'open', error: undefined, count: 0, entries: [] });
  });

  it('keeps the last 50 results, newest first, and counts all of them', () => {
    const page = running();
    for (let n = 1; n <= 120; n += 1) page.client.sink.next(tick(n));
    assert.equal(page.state.count, 120);
    assert.equal(page.state.entries.length, 50);
    assert.deepEqual(page.state.entries[0], { number: 120, at: 120, result: tick(120) });
    assert.equal(page.state.entries.at(-1)?.number, 71);
  });

  it('draws once a frame, of however many results the newest', () => {
    const page = new Page();
    let draws = 0;
    const unwatch = page.stream.watch(() => (draws += 1));
    page.run();
    page.draw();
    draws = 0;
    for (const n of [1, 2, 3]) page.client.sink.next(tick(n));
    assert.deepEqual([page.shown, draws], [[], 0]);
    for (let frame = 0; frame < 2; frame += 1) {
      page.draw();
      assert.deepEqual([page.shown, draws], [[tick(3)], 1]);
    }
    unwatch();
    page.client.sink.next(tick(4));
    page.draw();
    assert.equal(draws, 1);
  });

  it('shows a close that graphql-ws connects again after, and goes on', () => {
    const page = running();
    const { on, shouldRetry } = page.client.options;
    on.connected();
    page.client.sink.next(tick(1));
    on.closed({ code: 1012, reason: 'Service restart' });
    assert.equal(page.state.phase, 'lost');
    assert.deepEqual(page.state.entries[0], { number: 2, at: 2, close: '1012 Service restart' });
    on.closed({ code: 1006, reason: '' });
    assert.equal(page.state.entries[0]?.close, '1006 (without a reason)');
    assert.ok(shouldRetry({ code: 1012 }));
    assert.ok(shouldRetry({ type: 'error' }), 'a connection that could not be made has no code');
    on.connected();
    page.client.sink.next(tick(2));
    page.draw();
    assert.deepEqual([page.state.phase, page.state.count], ['open', 2]);
    assert.deepEqual(page.shown, [tick(2)]);
  });

  it('ends with 4403: graphql-ws would try the same parameters again', () => {
    const page = running();
    assert.equal(page.client.options.shouldRetry({ code: 4403 }), false);
    page.client.sink.next(tick(1));
    page.client.options.on.closed({ code: 4403, reason: 'Forbidden' });
    page.client.sink.error({ code: 4403, reason: 'Forbidden' });
    const message = 'The connection was closed: 4403 Forbidden';
    const error = { message, extensions: { code: 4403, reason: 'Forbidden' } };
    assert.deepEqual(page.shown, [tick(1), { error }]);
    assert.deepEqual([page.state.phase, page.state.error], ['failed', message]);
    const numbers = page.state.entries.map(({ number }) => number);
    assert.deepEqual(numbers, [2, 1]);
  });

  const errors = [{ message: 'No such field.' }, { message: 'Nor this.' }];
  const unknown = 'No connection could be made: the browser does not tell why.';
  for (const [what, thrown, message] of [
    ['errors of the operation', errors, 'No such field. Nor this.'],
    ['an error of the client', new Error('First message'), 'First message'],
    ['an event without anything', { type: 'error' }, unknown],
  ] as const) {
    it(`ends with ${what}, which is shown`, () => {
      const page = running();
      page.client.sink.error(thrown);
      assert.deepEqual([page.state.phase, page.state.error], ['failed', message]);
      assert.deepEqual(page.shown, [{ error: Array.isArray(thrown) ? thrown : { message } }]);
    });
  }

  it('tells an end by the gateway from one by the user, and hears no more after it', () => {
    const page = running();
    page.client.sink.next(tick(1));
    page.client.sink.complete();
    assert.equal(page.state.phase, 'completed');
    assert.deepEqual(page.shown.splice(0), [tick(1), 'complete']);

    const { unsubscribe } = page.run();
    const { shouldRetry } = page.client.options;
    assert.equal(shouldRetry({ code: 1006 }), true);
    unsubscribe();
    assert.equal(shouldRetry({ code: 1006 }), false);
    assert.ok(page.client.left);
    page.client.options.on.closed({ code: 1000, reason: 'Normal Closure' });
    page.client.sink.next(tick(2));
    page.draw();
    assert.deepEqual([page.state.phase, page.state.entries, page.shown], ['stopped', [], []]);
  });

  it('ends and forgets one when it is cleared, or when another begins', () => {
    const page = running();
    const first = page.client;
    first.sink.next(tick(1));
    page.run();
    assert.ok(first.left);
    assert.deepEqual([page.state.phase, page.state.count], ['connecting', 0]);
    first.sink.next(tick(2));
    assert.equal(page.state.count, 0);
    page.stream.clear();
    assert.deepEqual([page.state.phase, page.client.left], ['idle', true]);
    assert.deepEqual(page.shown, [tick(1), 'complete', 'complete']);
  });
});

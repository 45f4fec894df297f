import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import test, { type TestContext } from 'node:test';
import type { Gap } from '../../src/client/client.ts';
import { ScriptedServer } from '../helpers/scripted-server.ts';

/** What a page's library does with `sluice/client`. */
export interface Library {
  /** Subscribes to `subscription { n }`, or has `query { n }` answered. */
  run(document: string, page: Page): () => void;
}

export type Connect = (
  t: TestContext,
  options: { url: string; onGap: (gap: Gap) => void; socket: SocketOptions },
) => Library;

/** Options of graphql-ws with which a page survives a pod that is away; but for the wait, which no test needs. */
export interface SocketOptions {
  readonly retryAttempts: number;
  readonly shouldRetry: () => boolean;
  readonly retryWait: () => Promise<void>;
}

interface Shown {
  readonly n: unknown;
  readonly cursor: unknown;
}

/** What a page shows of one operation, and what it is told of gaps. */
export class Page {
  readonly shown: Shown[] = [];
  readonly gaps: Gap[] = [];
  /** How the operation ended. */
  end: string | undefined;
  readonly #changes = new EventEmitter();

  show(data: unknown, extensions: unknown): void {
    const { n } = data as { n: unknown };
    this.shown.push({ n, cursor: (extensions as { cursor?: unknown } | undefined)?.cursor });
    this.#changes.emit('change');
  }

  finish(end: string): void {
    this.end ??= end;
    this.#changes.emit('change');
  }

  async untilShown(count: number): Promise<unknown[]> {
    while (this.shown.length < count) {
      assert.equal(this.end, undefined, `it goes on; ${this.shown.length} of ${count} have come`);
      await once(this.#changes, 'change');
    }
    return this.shown.map(({ n }) => n);
  }

  async untilEnd(): Promise<string> {
    while (this.end === undefined) await once(this.#changes, 'change');
    return this.end;
  }
}

const SUBSCRIPTION = 'subscription { n }';
const QUERY = 'query { n }';

/** The contract of `sluice/client` within each library: what reaches a page, and the server. */
export function testResumable(name: string, connect: Connect): void {
  async function open(t: TestContext, document = SUBSCRIPTION) {
    const server = await ScriptedServer.start(t);
    const page = new Page();
    const retries = new EventEmitter();
    const socket = {
      retryAttempts: Infinity,
      shouldRetry: () => true,
      async retryWait() {
        retries.emit('retry');
        await nextTurn();
      },
    };
    const library = connect(t, { url: server.url, onGap: (gap) => page.gaps.push(gap), socket });
    const stop = library.run(document, page);
    t.after(stop);
    return { server, page, stop, retries };
  }

  test(`${name}: a page shows every event once, over sockets that were cut or closed`, async (t) => {
    const { server, page } = await open(t);
    let operation = await server.operation();
    assert.equal(operation.resume, null);
    operation.greet(true, 'c0');
    operation.event(1, 'c1');
    await page.untilShown(1);

    for (const [index, code] of [undefined, 1012].entries()) {
      operation.cut(code);
      const n = index + 2;
      operation = await server.operation();
      assert.equal(operation.resume, `c${n - 1}`);
      operation.greet(true, 'c9');
      operation.event(n - 1, `c${n - 1}`);
      operation.event(n, `c${n}`);
      await page.untilShown(n);
    }
    assert.deepEqual(
      page.shown,
      [1, 2, 3].map((n) => ({ n, cursor: `c${n}` })),
    );
    assert.deepEqual(page.gaps, []);
  });

  test(`${name}: a page survives a server that is away, and goes on where it was`, async (t) => {
    const { server, page, retries } = await open(t);
    const first = await server.operation();
    first.greet(true, 'c0');
    first.event(1, 'c1');
    await page.untilShown(1);
    await server.stop();
    // The second is after a refused connection: an error, which graphql-ws takes for fatal unless it is told otherwise.
    for (let retry = 1; retry <= 2; retry++) await once(retries, 'retry');
    await server.startAgain();
    const second = await server.operation();
    assert.equal(second.resume, 'c1');
    second.greet(true, 'c2');
    second.event(2, 'c2');
    assert.deepEqual(await page.untilShown(2), [1, 2]);
  });

  test(`${name}: a page is told of what could not be recovered, and goes on`, async (t) => {
    const { server, page } = await open(t);
    const first = await server.operation();
    first.greet(true, 'c0');
    first.cut();
    const second = await server.operation();
    second.greet(false, 'c7');
    second.event(8, 'c8');
    assert.deepEqual(await page.untilShown(1), [8]);
    assert.deepEqual(
      page.gaps.map(({ reason }) => reason),
      ['reconnect'],
    );
    second.cut();
    assert.equal((await server.operation()).resume, 'c8');
  });

  test(`${name}: a page is told of a gap, and shows the events around it`, async (t) => {
    const { server, page } = await open(t);
    const operation = await server.operation();
    operation.greet(true, 'c0');
    operation.event(1, 'c1');
    operation.gap('bids', 1700);
    operation.event(2, 'c2');
    assert.deepEqual(await page.untilShown(2), [1, 2]);
    assert.deepEqual(
      page.gaps.map(({ topic, at, reason }) => ({ topic, at, reason })),
      [{ topic: 'bids', at: 1700, reason: 'gap' }],
    );
    const [payload] = page.gaps.map((gap) => gap.payload as { query: string });
    assert.match(payload?.query ?? '', /subscription/);
  });

  test(`${name}: a page of a server without cursors sees what it would see anyhow`, async (t) => {
    const { server, page } = await open(t);
    const first = await server.operation();
    first.event(1);
    first.event(1);
    await page.untilShown(2);
    first.cut();
    const second = await server.operation();
    assert.equal(second.resume, null);
    second.event(4);
    assert.deepEqual(await page.untilShown(3), [1, 1, 4]);
    assert.deepEqual(page.gaps, []);
  });

  test(`${name}: a query gets its answer`, async (t) => {
    const { server, page } = await open(t, QUERY);
    const operation = await server.operation();
    operation.event(7);
    operation.complete();
    assert.equal(await page.untilEnd(), 'complete');
    assert.deepEqual(page.shown, [{ n: 7, cursor: undefined }]);
    assert.deepEqual(page.gaps, []);
  });

  test(`${name}: an error of the server reaches the page`, async (t) => {
    const { server, page } = await open(t);
    const operation = await server.operation();
    operation.greet(true, 'c0');
    operation.error('The field is gone');
    assert.match(await page.untilEnd(), /The field is gone/);
  });

  test(`${name}: leaving reaches the server`, async (t) => {
    const { server, page, stop } = await open(t);
    const operation = await server.operation();
    operation.greet(true, 'c0');
    operation.event(1, 'c1');
    await page.untilShown(1);
    stop();
    await operation.stopped;
  });
}

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DecodeError } from '../../../../src/events/decode-error.ts';
import { SchemaRegistry } from '../../../../src/ingest/schemas/registry.ts';
import { SchemaUnavailable } from '../../../../src/ingest/schemas/schema-unavailable.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { deferred } from '../../../helpers/deferred.ts';
import { range } from '../../../helpers/numbers.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { readableLog } from '../parts.ts';

/** What a path is answered with: a status and a body, or an error. */
type Answer = { readonly status: number; readonly body: unknown } | Error;

const found = (body: unknown): Answer => ({ status: 200, body });
const NONE: Answer = { status: 404, body: { error_code: 40_403, message: 'Schema not found' } };
const AVRO = { schema: '"string"' };

function setUp(
  t: TestContext,
  answers: Record<string, Answer | (() => Answer | Promise<Answer>)>,
  urls = ['http://one'],
) {
  const clock = new FakeClock();
  clock.patience = 0;
  /** Lets time pass, and what waits for it go on. */
  const pass = async (ms: number): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    clock.advance(ms);
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  };
  const asked: string[] = [];
  const { log, lines } = readableLog();
  const access = {
    get: async (url: string): Promise<never> => {
      asked.push(url);
      const known = answers[url] ?? answers[new URL(url).pathname];
      const answer = typeof known === 'function' ? await known() : known;
      if (answer instanceof Error || answer === undefined) throw answer ?? new Error(`no answer for ${url}`);
      const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
      return new Response(text, { status: answer.status }) as never;
    },
    close: () => Promise.resolve(),
  };
  const registry = new SchemaRegistry({ urls, access, clock, metrics: new Metrics(), log });
  t.after(() => registry.stop());
  return { registry, asked, pass, lines };
}

/** A schema that uses those of these subjects. */
const using = (name: string, ...subjects: string[]) =>
  found({
    schema: name,
    references: subjects.map((subject) => ({ name: `${subject}.avsc`, subject, version: 3 })),
  });

const isUnknown = (error: DecodeError): boolean => error.reason === 'unknown_schema';

describe('the schema registry', () => {
  it('is asked once for a schema, however many records want it at once or later', async (t) => {
    const { registry, asked } = setUp(t, { '/schemas/ids/5': found(AVRO) });
    const schemas = await Promise.all([1, 2, 3].map(() => registry.schema('id', '5')));
    schemas.push(await registry.schema('id', '5'));
    assert.deepEqual(new Set(schemas.map(({ type, text }) => `${type} ${text}`)), new Set(['AVRO "string"']));
    assert.deepEqual(asked, ['http://one/schemas/ids/5']);
  });

  it('is asked by UUID', async (t) => {
    const { registry } = setUp(t, { '/schemas/guids/0-1': found({ ...AVRO, schemaType: 'JSON' }) });
    assert.equal((await registry.schema('guid', '0-1')).type, 'JSON');
  });

  it('is asked for the schemas that a schema uses, each once and behind those that it uses itself', async (t) => {
    const { registry, asked } = setUp(t, {
      '/schemas/ids/5': using('top', 'a', 'b'),
      '/subjects/a/versions/3': using('a', 'b'),
      // A circle, which no registry should have.
      '/subjects/b/versions/3': using('b', 'a'),
    });
    const { text, references } = await registry.schema('id', '5');
    assert.equal(text, 'top');
    assert.deepEqual(references, [
      { name: 'b.avsc', text: 'b' },
      { name: 'a.avsc', text: 'a' },
    ]);
    assert.equal(asked.length, 3);
  });

  it('of Apicurio is asked by its own API, with references', async (t) => {
    const base = '/apis/registry/v2';
    const { registry } = setUp(
      t,
      {
        [`${base}/ids/globalIds/7`]: found('{"type":"x"}'),
        [`${base}/ids/globalIds/7/references`]: found([
          { name: 'r', groupId: 'g', artifactId: 'a/b', version: '1' },
        ]),
        [`${base}/groups/g/artifacts/a%2Fb/versions/1`]: found('"int"'),
        [`${base}/groups/g/artifacts/a%2Fb/versions/1/references`]: found([]),
      },
      [`http://one${base}`],
    );
    const expected = { type: '', text: '{"type":"x"}', references: [{ name: 'r', text: '"int"' }] };
    assert.deepEqual(await registry.schema('global', '7'), expected);
  });

  it('says that there is no schema only after a second look, as servers may lag behind each other', async (t) => {
    const { registry, pass, asked } = setUp(t, { '/schemas/ids/5': NONE });
    const first = registry.schema('id', '5').catch((thrown: unknown) => thrown);
    await pass(500);
    const error = await first;
    assert.ok(error instanceof SchemaUnavailable);
    await pass(1_000);
    await error.over;
    await assert.rejects(registry.schema('id', '5'), isUnknown);
    assert.equal(asked.length, 2);
    // It is asked again later: the schema may be there by then.
    await pass(31_000);
    registry.schema('id', '5').catch(() => undefined);
    await pass(0);
    assert.equal(asked.length, 3);
  });

  it('has the schema at the second look', async (t) => {
    let looks = 0;
    const { registry, pass } = setUp(t, {
      '/schemas/ids/5': () => ((looks += 1) === 1 ? NONE : found(AVRO)),
    });
    registry.schema('id', '5').catch(() => undefined);
    await pass(1_100);
    assert.equal((await registry.schema('id', '5')).text, '"string"');
  });

  const NOT_THERE: readonly (readonly [what: string, answer: Answer])[] = [
    ['Confluent’s answer', NONE],
    ['the subject of a reference that is not there', { status: 404, body: { error_code: 40_401 } }],
    ['Apicurio’s answer', { status: 404, body: { name: 'ContentNotFoundException', error_code: 404 } }],
  ];
  for (const [what, answer] of NOT_THERE) {
    it(`that has no such schema says so: ${what}`, async (t) => {
      const { registry, pass } = setUp(t, { '/schemas/ids/5': answer });
      registry.schema('id', '5').catch(() => undefined);
      await pass(1_100);
      await assert.rejects(registry.schema('id', '5'), isUnknown);
    });
  }

  it('that is known to be one says by any 404 that there is no such schema', async (t) => {
    const { registry, pass } = setUp(t, {
      '/schemas/types': found(['AVRO']),
      '/schemas/guids/0-1': { status: 404, body: 'Could not find resource' },
    });
    registry.start();
    await pass(0);
    registry.schema('guid', '0-1').catch(() => undefined);
    await pass(1_100);
    await assert.rejects(registry.schema('guid', '0-1'), isUnknown);
  });

  it('of Confluent’s API is not asked for global ids, which would be another schema’s there', async (t) => {
    const { registry, asked } = setUp(t, { '/schemas/ids/5': found(AVRO) });
    await assert.rejects(registry.schema('global', '5'), /Apicurio’s own API/);
    assert.deepEqual(asked, []);
  });

  it('refuses a schema that is too large', async (t) => {
    const { registry } = setUp(t, { '/schemas/ids/5': found(`"${'x'.repeat(17 * 1024 * 1024)}"`) });
    await assert.rejects(registry.schema('id', '5'), (error: DecodeError) => error.reason === 'bad_schema');
  });

  it('gives a schema that is used under two names under both', async (t) => {
    const { registry } = setUp(t, {
      '/schemas/ids/5': found({
        schema: 'top',
        references: [
          { name: 'b', subject: 'b', version: 1 },
          { name: 'c', subject: 'c', version: 1 },
        ],
      }),
      '/subjects/b/versions/1': found({
        schema: 'b',
        references: [{ name: 'lib/c', subject: 'c', version: 1 }],
      }),
      '/subjects/c/versions/1': found({ schema: 'c' }),
    });
    const { references } = await registry.schema('id', '5');
    assert.deepEqual(
      references.map(({ name }) => name),
      ['lib/c', 'b', 'c'],
    );
  });

  it('knows the latest schema of a subject, and that there is no such subject', async (t) => {
    const { registry } = setUp(t, {
      '/subjects/a-value/versions/latest': found(AVRO),
      '/subjects/b/versions/latest': { status: 404, body: { error_code: 40_401 } },
    });
    assert.equal((await registry.latest('a-value'))?.text, '"string"');
    assert.equal(await registry.latest('b'), undefined);
  });

  const AWAY: readonly (readonly [what: string, answer: Answer])[] = [
    ['refuses the connection', new Error('connect ECONNREFUSED')],
    ['has a fault', { status: 503, body: 'overloaded' }],
    ['refuses the login', { status: 401, body: { error_code: 401, message: 'Unauthorized' } }],
    ['is no registry', { status: 404, body: '<html>' }],
    ['answers nonsense', { status: 200, body: 'nonsense' }],
    ['answers without a schema', { status: 200, body: {} }],
  ];
  for (const [what, answer] of AWAY) {
    it(`that ${what} decides nothing about a record`, async (t) => {
      let isAway = true;
      const { registry, pass, lines } = setUp(t, {
        '/schemas/ids/5': () => (isAway ? answer : found(AVRO)),
      });
      const error: unknown = await registry.schema('id', '5').catch((thrown: unknown) => thrown);
      assert.ok(error instanceof SchemaUnavailable, String(error));
      assert.match(error.message, /^the schema registry can not be asked: one: /);
      assert.equal(lines.filter(({ level }) => level === 40).length, 1);
      isAway = false;
      await pass(10_000);
      await error.over;
      assert.equal((await registry.schema('id', '5')).text, '"string"');
    });
  }

  it('is asked at its other URLs in turn, the last good one first', async (t) => {
    const { registry, asked } = setUp(
      t,
      {
        'http://one/schemas/ids/5': new Error('away'),
        'http://two/schemas/ids/5': found(AVRO),
        'http://two/schemas/ids/6': found(AVRO),
      },
      ['http://one/', 'http://two'],
    );
    await registry.schema('id', '5');
    await registry.schema('id', '6');
    assert.deepEqual(asked, [
      'http://one/schemas/ids/5',
      'http://two/schemas/ids/5',
      'http://two/schemas/ids/6',
    ]);
  });

  it('that takes its time makes records wait elsewhere, and is asked once all the same', async (t) => {
    const answer = deferred<Answer>();
    const { registry, asked, pass } = setUp(t, { '/schemas/ids/5': () => answer.promise });
    const first = registry.schema('id', '5').catch((thrown: unknown) => thrown);
    await pass(500);
    const error = await first;
    assert.ok(error instanceof SchemaUnavailable);
    const second = registry.schema('id', '5').catch((thrown: unknown) => thrown);
    await pass(0);
    assert.ok((await second) instanceof SchemaUnavailable);
    answer.resolve(found(AVRO));
    await error.over;
    assert.equal((await registry.schema('id', '5')).text, '"string"');
    assert.equal(asked.length, 1);
  });

  it('is asked for no more schemas than it can have been asked for, and records of others wait, too', async (t) => {
    const answer = deferred<Answer>();
    const ids = range(0, 20_033).map(String);
    const answers = Object.fromEntries(ids.map((id) => [`/schemas/ids/${id}`, () => answer.promise]));
    const { registry, asked, pass } = setUp(t, answers);
    const refused: unknown[] = [];
    for (const id of ids) registry.schema('id', id).catch((thrown: unknown) => refused.push(thrown));
    await pass(0);
    assert.equal(asked.length, 32);
    assert.equal(refused.length, 1);
    assert.ok(refused[0] instanceof SchemaUnavailable);
    assert.match(refused[0].message, /too many schemas/);
  });

  it('is asked again for a schema that larger ones have taken the place of', async (t) => {
    const large = 15 * 1024 * 1024;
    const answers = range(0, 5).map((id) => [`/schemas/ids/${id}`, found({ schema: `${id}`.padEnd(large) })]);
    const { registry, asked } = setUp(t, Object.fromEntries(answers) as Record<string, Answer>);
    for (const id of [0, 1, 2, 2, 3, 2, 0]) await registry.schema('id', String(id));
    assert.deepEqual(
      asked.map((url) => url.at(-1)),
      ['0', '1', '2', '3', '0'],
    );
  });

  it('is not ready until it has answered, and asked until then', async (t) => {
    let isAway = true;
    const { registry, pass } = setUp(t, {
      '/schemas/types': () => (isAway ? new Error('away') : found(['AVRO'])),
    });
    assert.match(registry.notReady() ?? '', /not been reached yet: not asked yet/);
    registry.start();
    await pass(10);
    assert.match(registry.notReady() ?? '', /not been reached yet: one: away/);
    isAway = false;
    await pass(10_000);
    assert.equal(registry.notReady(), undefined);
  });

  it('refuses a schema with thousands of references', async (t) => {
    const references = Array.from({ length: 1_001 }, (_, index) => ({
      name: 'r',
      subject: `s${index}`,
      version: 1,
    }));
    const answers = Object.fromEntries(
      references.map(({ subject }) => [`/subjects/${subject}/versions/1`, found(AVRO)]),
    );
    const { registry } = setUp(t, { ...answers, '/schemas/ids/5': found({ ...AVRO, references }) });
    await assert.rejects(registry.schema('id', '5'), (error: DecodeError) => error.reason === 'bad_schema');
  });
});

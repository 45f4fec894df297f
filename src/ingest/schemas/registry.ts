import { setMaxListeners } from 'node:events';
import { LRUCache } from 'lru-cache';
import { messageOf } from '../../errors.ts';
import { DecodeError } from '../../events/decode-error.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import { Backoff } from '../../support/backoff.ts';
import type { Clock } from '../../support/clock.ts';
import { isRecord } from '../../support/kind-of.ts';
import { Limiter } from '../../support/limiter.ts';
import { BodyTooLarge, readBody } from '../../support/read-body.ts';
import { shortened } from '../../support/shortened.ts';
import { MAX_BYTES, References, tooLarge } from './references.ts';
import type { RegistryAccess } from './registry-access.ts';
import type { IdKind } from './schema-id.ts';
import type { SchemaText } from './schema-text.ts';
import { SchemaUnavailable } from './schema-unavailable.ts';

interface RegistryOptions {
  readonly urls: readonly string[];
  readonly access: Pick<RegistryAccess, 'get' | 'close'>;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Requests at a time: thousands of ids may appear together. */
const MAX_REQUESTS = 32;

/** Schemas that are asked for and have not come yet. */
const MAX_WAITING = 20_000;

/** Characters of the schemas that are kept: at least one of the largest. */
const MOST_KEPT = 48 * 1024 * 1024;

/** A schema that has just been registered may not have reached the registry's other servers. */
const SECOND_LOOK_MS = 1_000;

/** A record waits here for its schema for so long; then its partition waits, and others go on. */
const PATIENCE_MS = 500;

/** For how long a schema that the registry does not have is not asked for again. */
const ABSENT_MS = 30_000;
const MAX_ABSENT = 10_000;

const RETRY = { firstMs: 200, maxMs: 5_000 };
const SHOWN_CHARACTERS = 200;

/** Subject, version or schema not found, of Confluent's API. */
const NOT_FOUND: ReadonlySet<unknown> = new Set([40_401, 40_402, 40_403]);

interface Lookup {
  readonly startedAt: number;
  readonly result: Promise<SchemaText>;
  /** Resolves with the result, however it ends. */
  readonly over: Promise<void>;
}

/** An answer that says that there is no such schema. */
class NotFound extends Error {}

/** Which API the registry has: Confluent's, or Apicurio's own. */
type Api = 'confluent' | 'apicurio';

const APICURIO = /\/apis\/registry\/v\d+\/?$/;

/**
 * Schemas of a registry. Each is fetched once, however many records name it. While the registry is away, nothing is decided
 * about a record: `schema` rejects with SchemaUnavailable, and only a registry that answers can say that there is none.
 */
export class SchemaRegistry {
  readonly #options: RegistryOptions;
  readonly #schemas = new LRUCache<string, SchemaText>({
    maxSize: MOST_KEPT,
    sizeCalculation: ({ text, references }) =>
      1 + text.length + references.reduce((sum, reference) => sum + reference.text.length, 0),
  });
  readonly #absent = new LRUCache<string, { readonly error: DecodeError; readonly until: number }>({
    max: MAX_ABSENT,
  });
  readonly #lookups = new Map<string, Lookup>();
  readonly #limiter = new Limiter(MAX_REQUESTS, MAX_WAITING);
  readonly #backoff: Backoff;
  readonly #stopping = new AbortController();
  /** The URL that answered last. */
  #first = 0;
  #hasAnswered = false;
  /** Whether the URLs are known to be those of a registry: then each 404 says that there is no such thing. */
  #isRegistry = false;
  /** Why the last request had no answer. */
  #reason: string | undefined = 'not asked yet';

  constructor(options: RegistryOptions) {
    this.#options = options;
    // As many as may wait.
    setMaxListeners(0, this.#stopping.signal);
    this.#backoff = new Backoff({ ...RETRY, random: () => options.clock.random() });
  }

  /** Why it can't be used; undefined once it has answered. A later outage leaves it undefined, as of Kafka. */
  notReady(): string | undefined {
    return this.#hasAnswered ? undefined : `the schema registry has not been reached yet: ${this.#reason}`;
  }

  /** Asks until there is an answer, so that wrong URLs and credentials are known before records come. Does not wait. */
  start(): void {
    void this.#reach();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#options.access.close();
  }

  /**
   * @throws SchemaUnavailable, also if it has been asked for for a while
   * @throws DecodeError `unknown_schema`
   */
  async schema(kind: IdKind, id: string): Promise<SchemaText> {
    const key = `${kind} ${id}`;
    const known = this.#schemas.get(key);
    if (known !== undefined) return known;
    const { clock } = this.#options;
    const absent = this.#absent.get(key);
    if (absent !== undefined && absent.until > clock.now()) throw absent.error;
    const lookup = this.#lookups.get(key) ?? this.#begin(key, kind, id);
    const left = lookup.startedAt + PATIENCE_MS - clock.now();
    const done = new AbortController();
    const impatient = clock.sleep(Math.max(left, 0), done.signal).then(() => {
      if (done.signal.aborted) return lookup.result;
      throw new SchemaUnavailable(`the schema registry has not answered for schema ${id} yet`, lookup.over);
    });
    impatient.catch(() => undefined);
    try {
      return await Promise.race([lookup.result, impatient]);
    } finally {
      done.abort('done');
    }
  }

  /**
   * The latest schema of a subject.
   *
   * @returns undefined if there is no such subject
   * @throws SchemaUnavailable
   */
  async latest(subject: string): Promise<SchemaText | undefined> {
    const name = encodeURIComponent(subject);
    try {
      return await this.#inTurn((base, api) =>
        api === 'apicurio'
          ? this.#ofApicurio(base, `${base}/groups/default/artifacts/${name}`, `/versions/latest/references`)
          : this.#ofConfluent(base, `${base}/subjects/${name}/versions/latest`),
      );
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  #begin(key: string, kind: IdKind, id: string): Lookup {
    const result = this.#lookUp(kind, id).finally(() => this.#lookups.delete(key));
    const { clock } = this.#options;
    const over = result.then(
      (schema) => void this.#schemas.set(key, schema),
      (error: unknown) => {
        if (error instanceof DecodeError) this.#absent.set(key, { error, until: clock.now() + ABSENT_MS });
      },
    );
    const lookup = { startedAt: clock.now(), result, over };
    this.#lookups.set(key, lookup);
    return lookup;
  }

  async #lookUp(kind: IdKind, id: string): Promise<SchemaText> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    for (let look = 1; ; look += 1) {
      try {
        return await this.#inTurn((base, api) => this.#fetchSchema(base, api, kind, id));
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
        if (look === 2) {
          const message = `expected a schema of the registry, which has none of ${kind} ${id}`;
          throw new DecodeError('unknown_schema', message);
        }
      }
      await clock.sleep(SECOND_LOOK_MS, signal);
    }
  }

  /** Asks the URLs, the last good one first. @throws NotFound, SchemaUnavailable */
  async #inTurn<T>(ask: (base: string, api: Api) => Promise<T>): Promise<T> {
    const { urls, metrics } = this.#options;
    const { signal } = this.#stopping;
    const reasons: string[] = [];
    let cause: unknown;
    if (!(await this.#limiter.enter(signal)))
      throw this.#unavailable('too many schemas are asked for', undefined);
    try {
      for (let turn = 0; turn < urls.length; turn += 1) {
        const index = (this.#first + turn) % urls.length;
        const url = (urls[index] ?? '').replace(/\/+$/, '');
        const api = APICURIO.test(url) ? 'apicurio' : 'confluent';
        try {
          const answer = await ask(url, api);
          this.#answered(index);
          metrics.schemaRequests.inc({ outcome: 'found' });
          return answer;
        } catch (error) {
          if (error instanceof DecodeError) throw error;
          if (error instanceof NotFound) {
            this.#answered(index);
            metrics.schemaRequests.inc({ outcome: 'not_found' });
            throw error;
          }
          metrics.schemaRequests.inc({ outcome: 'failed' });
          cause = error;
          reasons.push(`${new URL(url).host}: ${reasonOf(error)}`);
        }
      }
    } finally {
      this.#limiter.release();
    }
    const reason = reasons.join('; ');
    if (this.#reason !== reason) {
      this.#options.log.warn(
        { reason },
        'the schema registry can not be asked; records wait for their schemas',
      );
    }
    this.#reason = reason;
    throw this.#unavailable(`the schema registry can not be asked: ${reason}`, cause);
  }

  #unavailable(message: string, cause: unknown): SchemaUnavailable {
    const wait = this.#options.clock.sleep(this.#backoff.next(), this.#stopping.signal);
    return new SchemaUnavailable(message, wait, { cause });
  }

  #answered(index: number): void {
    if (this.#reason !== undefined && this.#hasAnswered) {
      this.#options.log.info('the schema registry answers again');
    }
    this.#first = index;
    this.#hasAnswered = true;
    this.#reason = undefined;
    this.#backoff.reset();
  }

  async #reach(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#inTurn((base, api) =>
          this.#json(`${base}${api === 'apicurio' ? '/system/info' : '/schemas/types'}`),
        );
        this.#isRegistry = true;
        return;
      } catch (error) {
        // It has answered, or is asked again.
        if (!(error instanceof SchemaUnavailable)) return;
        await error.over;
      }
    }
  }

  async #fetchSchema(base: string, api: Api, kind: IdKind, id: string): Promise<SchemaText> {
    if (api === 'confluent') {
      if (kind === 'global') {
        throw new Error(
          'expected the URL of Apicurio’s own API, …/apis/registry/v2, as messages have its global ids',
        );
      }
      return this.#ofConfluent(base, `${base}/schemas/${kind === 'guid' ? 'guids' : 'ids'}/${id}`);
    }
    if (kind === 'guid') throw new NotFound();
    const ids = kind === 'global' ? 'globalIds' : 'contentIds';
    return this.#ofApicurio(base, `${base}/ids/${ids}/${id}`, '/references');
  }

  async #ofConfluent(base: string, url: string): Promise<SchemaText> {
    const answer = await this.#json(url);
    const { schemaType = 'AVRO' } = answer;
    const references = new References();
    await this.#confluentReferences(base, answer['references'], references);
    return { type: String(schemaType), text: textOf(answer['schema']), references: references.all };
  }

  async #confluentReferences(base: string, listed: unknown, references: References): Promise<void> {
    for (const reference of recordsIn(listed)) {
      const { name, subject, version } = reference;
      const key = `${String(subject)} ${String(version)}`;
      if (!references.begin(key, String(name))) continue;
      const at = `${base}/subjects/${encodeURIComponent(String(subject))}/versions/${encodeURIComponent(String(version))}?deleted=true`;
      const answer = await this.#json(at);
      await this.#confluentReferences(base, answer['references'], references);
      references.add(key, String(name), textOf(answer['schema']));
    }
  }

  /** @param list what follows in the URL of the references */
  async #ofApicurio(base: string, url: string, list: string): Promise<SchemaText> {
    const text = await this.#text(url);
    const references = new References();
    await this.#apicurioReferences(base, url + list, references);
    return { type: '', text, references: references.all };
  }

  async #apicurioReferences(base: string, list: string, references: References): Promise<void> {
    const listed: unknown = JSON.parse(await this.#text(list));
    for (const reference of recordsIn(listed)) {
      const { name, groupId = 'default', artifactId, version } = reference;
      const key = `${String(groupId)} ${String(artifactId)} ${String(version)}`;
      if (!references.begin(key, String(name))) continue;
      const [group, artifact, one] = [groupId, artifactId, version].map((part) =>
        encodeURIComponent(String(part)),
      );
      const at = `${base}/groups/${group}/artifacts/${artifact}/versions/${one}`;
      const text = await this.#text(at);
      await this.#apicurioReferences(base, `${at}/references`, references);
      references.add(key, String(name), text);
    }
  }

  async #json(url: string): Promise<Readonly<Record<string, unknown>>> {
    const value: unknown = JSON.parse(await this.#text(url));
    return isRecord(value) ? value : {};
  }

  /** @throws NotFound */
  async #text(url: string): Promise<string> {
    const response = await this.#options.access.get(url, this.#stopping.signal);
    const { body, isWhole } = await bodyOf(response);
    if (!isWhole) throw tooLarge(`${MAX_BYTES} bytes`);
    if (response.status === 200) return body;
    if (response.status === 404 && (saysNotFound(body) || this.#isRegistry)) throw new NotFound();
    const path = new URL(url).pathname;
    const shown = shortened(body.replace(/\s+/g, ' '), SHOWN_CHARACTERS);
    throw new Error(
      `expected status 200 of ${path}, got ${response.status}${shown === '' ? '' : `: ${shown}`}`,
    );
  }
}

/** Another server's 404, of a wrong path, must not count as an answer. */
function saysNotFound(body: string): boolean {
  try {
    const answer: unknown = JSON.parse(body);
    if (!isRecord(answer)) return false;
    return NOT_FOUND.has(answer['error_code']) || String(answer['name']).endsWith('NotFoundException');
  } catch {
    return false;
  }
}

function recordsIn(listed: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(listed) ? listed.filter(isRecord) : [];
}

function textOf(schema: unknown): string {
  if (typeof schema === 'string') return schema;
  throw new Error(`expected an answer with a schema, got ${schema === undefined ? 'none' : typeof schema}`);
}

/** @returns the text; that it is not whole if it has too many bytes */
async function bodyOf(response: Response): Promise<{ body: string; isWhole: boolean }> {
  try {
    return { body: await readBody(response as never, MAX_BYTES), isWhole: true };
  } catch (error) {
    if (error instanceof BodyTooLarge) return { body: '', isWhole: false };
    throw error;
  }
}

/** An error of `fetch` has its reason in `cause`; of several addresses, in a code there. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause as (Error & { code?: string }) | undefined) : undefined;
  return cause?.message || cause?.code || messageOf(error);
}

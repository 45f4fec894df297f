import type { IncomingMessage } from 'node:http';
import { Limiter } from '../../support/limiter.ts';
import type { Listing, TableQuery } from '../../support/table.ts';
import { HttpError } from '../http-error.ts';
import { numberParameter } from '../number-parameter.ts';
import { sendJson } from '../respond.ts';
import { queryOf, type Handle } from '../router.ts';

/** A table with many rows: the first ones in the order of a column are listed. */
export interface ListedTable {
  readonly size: number;
  readonly columns: readonly string[];
  list(query: TableQuery, signal: AbortSignal): Promise<Listing>;
}

const LIMIT = { min: 1, max: 1_000, default: 100 };

const MAX_SEARCH = 200;

/** Most waiting requests. They run one at a time, as each takes its full share of the event loop while it runs. */
const WAITING = 16;

/** `?sort=&order=&limit=&search=`: rows of tables, for one request at a time. */
export class TableRoutes {
  readonly #limiter = new Limiter(1, WAITING);

  /** @param defaultSort the column that rows are sorted by, the largest first, if the request names none */
  handle(table: ListedTable, defaultSort: string): Handle {
    return async (request, response) => {
      const query = tableQuery(request, table.columns, defaultSort);
      const closed = new AbortController();
      response.once('close', () => closed.abort());
      const listing = await this.#alone(() => table.list(query, closed.signal), closed.signal);
      const { sort, descending, limit, search } = query;
      const asked = { sort, order: descending ? 'desc' : 'asc', limit, search };
      sendJson(response, 200, { ...asked, ...listing }, { 'cache-control': 'no-store' });
    };
  }

  async #alone(list: () => Promise<Listing>, signal: AbortSignal): Promise<Listing> {
    if (!(await this.#limiter.enter(signal))) {
      throw new HttpError(503, `expected at most ${WAITING} requests for tables to wait, got one more`);
    }
    try {
      return await list();
    } finally {
      this.#limiter.release();
    }
  }
}

/** @throws HttpError 400 */
function tableQuery(request: IncomingMessage, columns: readonly string[], defaultSort: string): TableQuery {
  const query = queryOf(request);
  const sort = query.get('sort') ?? defaultSort;
  const order = query.get('order') ?? 'desc';
  const search = query.get('search') ?? '';
  expectOneOf('sort', sort, columns);
  expectOneOf('order', order, ['asc', 'desc']);
  if (search.length > MAX_SEARCH) {
    throw new HttpError(400, `search: expected at most ${MAX_SEARCH} characters, got ${search.length}`);
  }
  return { sort, descending: order === 'desc', limit: numberParameter(request, 'limit', LIMIT), search };
}

function expectOneOf(name: string, given: string, expected: readonly string[]): void {
  if (expected.includes(given)) return;
  const got = JSON.stringify(given.slice(0, MAX_SEARCH));
  throw new HttpError(400, `${name}: expected one of ${expected.join(', ')}, got ${got}`);
}

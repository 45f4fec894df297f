import { parseRequestParams, type Request, type RequestParams, type Response } from '#graphql-http';
import { namesDocument } from '../../executor/document-id.ts';
import { isNestedDeeper, MAX_NESTING } from '../../support/json-nesting.ts';

/** The parameters of a request, including `documentId` of GraphQL over HTTP. */
export interface HttpParams extends RequestParams {
  readonly documentId?: unknown;
}

/**
 * Reads the body, or the URL of a GET, as graphql-http does. But graphql-http knows no `documentId`, and demands `query`: a
 * request that names a persisted document may leave it out here.
 *
 * @param body of a POST
 * @throws Error if it is no request
 */
export async function parseHttpParams<Raw, Context>(
  request: Request<Raw, Context>,
  body: Buffer | undefined,
): Promise<HttpParams | Response> {
  if (request.method === 'GET') return parseUrl(request);
  if (body === undefined || body.length === 0) return parseRequestParams(request);
  demandNesting(body);
  let documentId: unknown;
  const params = await parseRequestParams({
    ...request,
    // graphql-http calls it only if the content type is right, and turns an error of JSON.parse into its own.
    body: () => {
      const data = JSON.parse(body.toString()) as Record<string, unknown>;
      if (typeof data !== 'object' || data === null) return data;
      documentId = data['documentId'];
      return data['query'] == null && namesDocument(data) ? { ...data, query: '' } : data;
    },
  });
  return 'query' in params ? { ...params, documentId } : params;
}

async function parseUrl<Raw, Context>(request: Request<Raw, Context>): Promise<HttpParams | Response> {
  const search = queryIn(request.url);
  const documentId = search.get('documentId') ?? undefined;
  for (const name of ['variables', 'extensions']) demandNesting(Buffer.from(search.get(name) ?? ''));
  const hasQuery = search.has('query');
  if (!hasQuery) search.set('query', '');
  // Writes the query again, as graphql-http ends the URL at a second question mark.
  const params = await parseRequestParams({ ...request, url: `?${search}` });
  if (!('query' in params)) return params;
  if (!hasQuery && !namesDocument({ documentId, extensions: params.extensions }))
    throw new Error('Missing query');
  return { ...params, documentId };
}

/** Checks the nesting before the text is parsed. */
function demandNesting(json: Buffer): void {
  if (!isNestedDeeper(json, MAX_NESTING)) return;
  throw new Error(`expected JSON of at most ${MAX_NESTING} levels, got more`);
}

function queryIn(url: string): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at === -1 ? '' : url.slice(at));
}

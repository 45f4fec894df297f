import { parseRequestParams, type Request, type RequestParams, type Response } from 'graphql-http';
import { namesDocument } from '../../executor/document-id.ts';

/** The parameters of a request, `documentId` of GraphQL over HTTP among them. */
export interface HttpParams extends RequestParams {
  readonly documentId?: unknown;
}

/**
 * Reads the body, or of a GET the URL, as graphql-http does, which knows no `documentId` and takes no request without
 * `query`: one that names a persisted document may leave that out.
 *
 * @throws Error if it is no request
 */
export async function parseHttpParams<Raw, Context>(
  request: Request<Raw, Context>,
): Promise<HttpParams | Response> {
  if (request.method === 'GET') return parseUrl(request);
  const text = request.body;
  if (typeof text !== 'string' || text === '') return parseRequestParams(request);
  let documentId: unknown;
  const params = await parseRequestParams({
    ...request,
    // Called only if the content type is right, and in place: an error of JSON.parse becomes that of graphql-http.
    body: () => {
      const body = JSON.parse(text) as Record<string, unknown>;
      if (typeof body !== 'object' || body === null) return body;
      documentId = body['documentId'];
      return body['query'] == null && namesDocument(body) ? { ...body, query: '' } : body;
    },
  });
  return 'query' in params ? { ...params, documentId } : params;
}

async function parseUrl<Raw, Context>(request: Request<Raw, Context>): Promise<HttpParams | Response> {
  const search = queryIn(request.url);
  const documentId = search.get('documentId') ?? undefined;
  const hasQuery = search.has('query');
  if (!hasQuery) search.set('query', '');
  // Written again: graphql-http takes the URL to end at a second question mark.
  const params = await parseRequestParams({ ...request, url: `?${search}` });
  if (!('query' in params)) return params;
  if (!hasQuery && !namesDocument({ documentId, extensions: params.extensions }))
    throw new Error('Missing query');
  return { ...params, documentId };
}

function queryIn(url: string): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at === -1 ? '' : url.slice(at));
}

import { parseRequestParams, type Request, type RequestParams, type Response } from 'graphql-http';
import { namesDocument } from '../../executor/document-id.ts';

/** The parameters of a request, `documentId` of GraphQL over HTTP among them. */
export interface PostParams extends RequestParams {
  readonly documentId?: unknown;
}

/**
 * Reads the body as graphql-http does, which knows no `documentId` and takes no body without `query`: where a body names
 * a persisted document, `query` may be absent.
 *
 * @throws Error if the body is no request
 */
export async function parsePostParams<Raw, Context>(
  request: Request<Raw, Context>,
): Promise<PostParams | Response> {
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

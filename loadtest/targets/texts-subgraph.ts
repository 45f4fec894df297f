import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Scope } from '../../test/helpers/scope.ts';

interface Asked {
  readonly query: string;
  readonly variables: Readonly<Record<string, readonly { readonly seq: string }[]>>;
}

/**
 * The subgraph of the graph `joined`, in the process of the load test: it has the text of each update. It knows the two
 * ways in which servers ask, and parses no GraphQL, so that it is not what is measured.
 *
 * @returns its URL
 */
export async function serveTexts(scope: Scope, bodyText: string): Promise<string> {
  const server = createServer((request, response) => {
    void text(request).then((body) =>
      response.end(JSON.stringify(answerTo(JSON.parse(body) as Asked, bodyText))),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
}

function answerTo({ query, variables }: Asked, bodyText: string): object {
  const [[, representations = []] = []] = Object.entries(variables);
  if (query.includes('e1:')) throw new Error(`expected one list of entities, got ${query}`);
  const isSluice = query.includes('_key_Update_seq');
  const entities = representations.map(({ seq }) =>
    isSluice
      ? { __typename: 'Update', _key_Update_seq: seq, f0: bodyText }
      : { __typename: 'Update', body_text: bodyText },
  );
  return { data: isSluice ? { e0: entities } : { asked: entities } };
}

import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { postJson } from '../helpers/http-exchange.ts';
import type { Scope } from '../helpers/scope.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import type { TestContext } from 'node:test';

type Texts = Readonly<Record<string, string>>;

/** A gateway whose graph has these files. */
export async function startGraph(scope: Scope, files: Texts, settings: Texts = {}): Promise<GatewayProcess> {
  return startGateway(scope, { GRAPH: await graphFolder(scope, files), ...settings });
}

/** The same, for all tests of a file. */
export const sharedGraph = (files: Texts, settings: Texts = {}): (() => Promise<GatewayProcess>) =>
  sharedGateway((scope) => startGraph(scope, files, settings));

/** With the fields `item` and `expensive_item` on one topic. */
export const startItems = (scope: Scope, settings: Texts = {}, topic = 'items'): Promise<GatewayProcess> =>
  startGraph(scope, { 'schema.graphql': itemSchema(topic) }, settings);

/** An operation of a client of its own. @param connectionParams such as a token */
export const asking = <Data = Record<string, unknown>>(
  t: TestContext,
  { graphqlUrl }: GatewayProcess,
  query: string,
  connectionParams: Record<string, unknown> = {},
): Received<Data> => new Received<Data>(graphqlClient(t, graphqlUrl, { connectionParams }), query);

/** What a POST to /graphql brings. */
export async function post(gateway: GatewayProcess, body: object, headers: Texts = {}): Promise<unknown> {
  return JSON.parse((await postJson(`${gateway.httpUrl}/graphql`, body, headers)).body) as unknown;
}

/** Closes the connections of viewers that have this value, and refuses them. */
export async function revoke({ adminUrl }: GatewayProcess, path: string, value: unknown): Promise<void> {
  const { status, body } = await postJson(`${adminUrl}/revoke`, { path, value });
  if (status !== 202) throw new Error(body);
}

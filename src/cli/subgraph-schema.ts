import {
  buildASTSchema,
  buildClientSchema,
  getIntrospectionQuery,
  GraphQLError,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  Kind,
  parse,
  type GraphQLSchema,
  type IntrospectionQuery,
  type TypeDefinitionNode,
} from 'graphql';
import { readFile } from 'node:fs/promises';
import { messageOf, SluiceError } from '../errors.ts';
import { isRecord } from '../support/kind-of.ts';
import { UsageError } from './command.ts';

/** ms */
const TIMEOUT = 10_000;

/**
 * Reads `products=<file or URL>`: the schema of a back end in a file, as the back end's `_service` gives it, or as it is
 * composed for a router; or the URL of the back end, which is asked for it.
 *
 * @throws UsageError, or SluiceError BAD_GRAPH if there is no schema
 */
export async function readSubgraph(option: string): Promise<{ backend: string; schema: GraphQLSchema }> {
  const [, backend, source] = /^(\w+)=(.+)$/s.exec(option) ?? [];
  if (backend === undefined || source === undefined) {
    throw new UsageError(`expected --subgraph <back end>=<file or URL>, got '${option}'`);
  }
  try {
    const schema = /^https?:/.test(source) ? await asked(source) : built(await readFile(source, 'utf8'));
    return { backend, schema };
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    const reason = cause === undefined ? '' : `: ${messageOf(cause)}`;
    const message = `expected the GraphQL schema of ${backend} from ${source}: ${messageOf(error)}${reason}`;
    throw new SluiceError('BAD_GRAPH', message, { cause: error });
  }
}

/** Directives of federation need no definitions, and a subgraph may extend types that it does not define. */
function built(sdl: string): GraphQLSchema {
  const { definitions } = parse(sdl);
  const names = new Set(definitions.flatMap((node) => (isTypeDefinitionNode(node) ? node.name.value : [])));
  const whole = definitions.map((node) => {
    if (!isTypeExtensionNode(node) || names.has(node.name.value)) return node;
    names.add(node.name.value);
    return { ...node, kind: node.kind.replace('Extension', 'Definition') } as TypeDefinitionNode;
  });
  return buildASTSchema(
    { kind: Kind.DOCUMENT, definitions: whole },
    { assumeValid: true, assumeValidSDL: true },
  );
}

/** Asks a subgraph for its SDL, and any other GraphQL server by introspection. */
async function asked(url: string): Promise<GraphQLSchema> {
  const { data } = await post(url, '{ _service { sdl } }');
  const service = isRecord(data) ? data['_service'] : undefined;
  if (isRecord(service) && typeof service['sdl'] === 'string') return built(service['sdl']);
  const { data: introspected, errors } = await post(url, getIntrospectionQuery());
  if (!isRecord(introspected)) throw new GraphQLError(JSON.stringify(errors ?? 'no data').slice(0, 500));
  return buildClientSchema(introspected as unknown as IntrospectionQuery, { assumeValid: true });
}

async function post(url: string, query: string): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query }),
    signal: AbortSignal.timeout(TIMEOUT),
  });
  const answer: unknown = await response.json();
  if (!isRecord(answer)) throw new TypeError(`expected an answer of GraphQL, got status ${response.status}`);
  return answer;
}

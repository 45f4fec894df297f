import {
  isEnumType,
  isObjectType,
  isScalarType,
  Kind,
  parse,
  printSchema,
  specifiedScalarTypes,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import { createRequire } from 'node:module';
import path from 'node:path';
import { messageOf, SluiceError } from '../../errors.ts';
import { hasResolver, type GraphDefinition } from '../api/define-graph.ts';
import type { EnumValues } from '../api/resolvers.ts';

/** The part of GraphQL Code Generator in use; the package belongs to the graph's project, not to the gateway. */
interface CodeGenerator {
  codegen(options: {
    readonly schema: DocumentNode;
    readonly documents: readonly never[];
    readonly filename: string;
    readonly config: object;
    readonly plugins: readonly Readonly<Record<string, object>>[];
    readonly pluginMap: Readonly<Record<string, object>>;
  }): Promise<string>;
}

const PACKAGES = ['core', 'typescript', 'typescript-resolvers'].map((name) => `@graphql-codegen/${name}`);

const SOURCE = 'SourceOf';

/** The type that the texts of {@link sourcesOf} name. */
const SOURCE_TYPE = `
/** What the resolvers of a type get: the fields that have one may be missing. */
type ${SOURCE}<T, Resolved extends keyof T> = Omit<T, Resolved> & Partial<Pick<T, Resolved>>;
`;

/**
 * Writes types of the resolvers that a schema may have, as `defineGraph` takes them.
 *
 * @param folder of the graph, from where the packages are looked up
 * @param schema as clients see it
 * @param definition of the graph: a field with a resolver may be missing in the source of its resolver, and events hold
 *   the values that the definition gives to an enum
 * @param scalars by name of a custom scalar: the TypeScript type of its values in events
 * @returns TypeScript
 * @throws SluiceError MISSING_PACKAGE; BAD_GRAPH if the schema lacks one of the scalars
 */
export async function resolverTypes(
  folder: string,
  schema: GraphQLSchema,
  definition: GraphDefinition,
  scalars: Readonly<Record<string, string>>,
): Promise<string> {
  for (const name of Object.keys(scalars)) expectScalar(schema, name);
  const [core, typescript, resolvers] = packagesOf(folder);
  const types = await (core as CodeGenerator).codegen({
    schema: documentOf(schema),
    documents: [],
    filename: '',
    config: {
      // The gateway's own types say what `ctx` is.
      contextType: 'unknown',
      defaultScalarType: 'unknown',
      enumsAsTypes: true,
      enumValues: enumValuesOf(schema, definition),
      immutableTypes: true,
      makeResolverTypeCallable: true,
      mappers: sourcesOf(schema, definition),
      namingConvention: 'keep',
      noSchemaStitching: true,
      scalars,
      showUnusedMappers: false,
      skipTypename: true,
      useTypeImports: true,
    },
    plugins: [{ typescript: {} }, { resolvers: {} }],
    pluginMap: { typescript: typescript ?? {}, resolvers: resolvers ?? {} },
  });
  return `${types}${types.includes(`${SOURCE}<`) ? SOURCE_TYPE : ''}`;
}

/** Scalars of GraphQL itself, such as ID, count as scalars of the schema even if no field has them. */
function expectScalar(schema: GraphQLSchema, name: string): void {
  const isScalar =
    specifiedScalarTypes.some((type) => type.name === name) || isScalarType(schema.getType(name));
  if (!isScalar)
    throw new SluiceError('BAD_GRAPH', `expected the name of a scalar of the schema, got '${name}'`);
}

function packagesOf(folder: string): readonly object[] {
  const load = createRequire(path.resolve(folder, 'package.json'));
  return PACKAGES.map((name) => {
    try {
      return load(name) as object;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause;
      const message = `types are written by GraphQL Code Generator: npm install --save-dev ${PACKAGES.join(' ')}`;
      throw new SluiceError('MISSING_PACKAGE', `${message}\n${messageOf(cause).split('\n')[0]}`, { cause });
    }
  });
}

/**
 * TypeScript types by type name. A type with resolvers has its source, in which resolved fields may be missing. An enum
 * with values of its own has its own name, since `typescript-resolvers` 6.1 takes its type to be `null`.
 */
function sourcesOf(schema: GraphQLSchema, definition: GraphDefinition): Record<string, string> {
  const sources: Record<string, string> = {};
  for (const name of Object.keys(definition.resolvers ?? {})) {
    const type = schema.getType(name);
    if (isEnumType(type)) sources[name] = name;
    if (!isObjectType(type)) continue;
    const resolved = Object.keys(type.getFields()).filter((field) => hasResolver(definition, name, field));
    if (resolved.length === 0) continue;
    sources[name] = `${SOURCE}<{T}, ${resolved.map((field) => `'${field}'`).join(' | ')}>`;
  }
  return sources;
}

function enumValuesOf(schema: GraphQLSchema, definition: GraphDefinition): Record<string, EnumValues> {
  const enums = Object.entries(definition.resolvers ?? {}).filter(([name]) =>
    isEnumType(schema.getType(name)),
  );
  return Object.fromEntries(enums) as Record<string, EnumValues>;
}

/** The schema without directives, which a graph's code does not use. */
function documentOf(schema: GraphQLSchema): DocumentNode {
  const document = parse(printSchema(schema));
  return {
    ...document,
    definitions: document.definitions.filter(({ kind }) => kind !== Kind.DIRECTIVE_DEFINITION),
  };
}

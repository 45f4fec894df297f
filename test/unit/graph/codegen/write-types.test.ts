import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { writeTypes } from '../../../../src/graph/codegen/write-types.ts';
import { asProject, typecheck } from '../../../helpers/typecheck.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';

const SCHEMA = `
scalar Time
enum Size { SMALL LARGE }
interface Item { item_id: ID!, moved_at: Time! }
type Parcel implements Item {
  item_id: ID!
  moved_at: Time!
  size: Size!
  weight_kg(digits: Int): Float!
  owner: Owner
  is_mine: Boolean!
}
type Owner { owner_id: ID!, name: String! }
type Query { parcels(size: Size, first: Int = 10): [Parcel!]! }
type Subscription {
  parcel_moved(item_id: ID!): Parcel @event(topic: "moves", key: "item_id")
  item_moved: Item @event(topic: "moves")
}
`;

/** Each `@ts-expect-error` is an error itself where the line below is correct. */
const GRAPH = `
import { defineGraph, type GraphContext, type SharedContext } from 'sluice';
import DataLoader from 'dataloader';
import type { Owner, Resolvers } from './schema.types.ts';

interface Viewer { readonly user_id: string; readonly tenant: { readonly id: string } }

interface Types {
  Viewer: Viewer;
  Resolvers: Resolvers;
  Events: { Parcel: ParcelEvent };
  Loaders: ReturnType<typeof loaders>;
  Backends: 'people';
  Context: { readonly locale: string };
}

/** What events hold beyond the schema. */
interface ParcelEvent { readonly owner_id: string }

const loaders = ({ backends }: SharedContext<{ Backends: 'people' }>) => ({
  owner: new DataLoader<string, Owner>((ids) => backends.people.post('/owners', { ids })),
});

const PARCEL = { item_id: '1', moved_at: 0, size: 's' } as const;

export default defineGraph<Types>({
  authenticate: ({ token }) => (token === 'a' ? { user_id: 'ada', tenant: { id: 't' } } : null),
  backends: { people: { url: 'http://localhost' } },
  loaders,
  context: () => ({ locale: 'en' }),
  primers: () => ({ owner: () => undefined }),
  resolvers: {
    Time: { serialize: (value) => String(value) },
    Size: { SMALL: 's', LARGE: 'l' },
    Item: { __resolveType: (item) => (item.item_id === '' ? 'Parcel' : 'Parcel') },
    Query: { parcels: async (_root, { size, first }) => (size === 's' && first > 3 ? [PARCEL] : []) },
    Subscription: { item_moved: (envelope) => envelope.after },
    Parcel: {
      is_mine: (parcel, _args, ctx) => parcel.owner_id === ctx.viewer.user_id,
      weight_kg: ({ weight_kg }, { digits }) => Number((weight_kg ?? 0).toFixed(digits ?? 1)),
      owner: (parcel, _args, ctx) => ctx.loaders.owner.load(parcel.owner_id),
    },
  },
});

// @ts-expect-error a viewer without its tenant
export const viewer = defineGraph<Types>({ authenticate: () => ({ user_id: 'ada' }) });

// @ts-expect-error no such back end
export const backend = defineGraph<Types>({ backends: { peple: { url: 'http://localhost' } } });

// @ts-expect-error no such loader
export const primer = defineGraph<Types>({ primers: () => ({ ownr: () => undefined }) });

// @ts-expect-error no such type
export const type = defineGraph<Types>({ resolvers: { Parcl: {} } });

// @ts-expect-error no such field
export const field = defineGraph<Types>({ resolvers: { Parcel: { colour: () => 'red' } } });

export const code = defineGraph<Types>({
  resolvers: {
    // @ts-expect-error one value is missing
    Size: { SMALL: 's' },
    // @ts-expect-error no such implementation
    Item: { __resolveType: () => 'Box' },
    // @ts-expect-error a list where its items are expected
    Query: { parcels: () => 7 },
    Parcel: {
      // @ts-expect-error no such field in events
      is_mine: (parcel, _args, ctx) => parcel.buyer_id === ctx.viewer.user_id,
      // @ts-expect-error text where a number belongs
      weight_kg: ({ weight_kg }) => String(weight_kg),
      // @ts-expect-error no such loader
      owner: (parcel, _args, ctx) => ctx.loaders.ownr.load(parcel.owner_id),
    },
  },
});

export const helper = (ctx: GraphContext<Types>): string => {
  // @ts-expect-error it can't be changed
  ctx.viewer.user_id = 'bob';
  // @ts-expect-error no such property
  return ctx.viewer.tenant.name;
};
`;

/** A folder with this graph, within a project that has what it takes to write types. */
async function projectWith(t: TestContext, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, ...files });
  await asProject(folder);
  return folder;
}

describe('types of a graph', () => {
  it('are compared with its code, as strictly as TypeScript can', async (t) => {
    const folder = await projectWith(t, { 'graph.ts': GRAPH });
    const { file, faults } = await writeTypes(folder);
    assert.deepEqual(faults, []);
    assert.equal(file, path.join(folder, 'schema.types.ts'));
    assert.equal(await typecheck(folder), '');
  });

  it('are those of scalars that are named, and else unknown', async (t) => {
    const folder = await projectWith(t);
    const scalar = async (scalars?: Readonly<Record<string, string>>) => {
      const { file } = await writeTypes(folder, undefined, scalars);
      return /Time: \{ (.*); \}/.exec(await readFile(file, 'utf8'))?.[1];
    };
    assert.equal(await scalar(), 'input: unknown; output: unknown');
    assert.equal(await scalar({ Time: 'number' }), 'input: number; output: number');
    await scalar({ Float: 'string' });
    for (const name of ['Tiem', 'Size']) {
      await assert.rejects(scalar({ [name]: 'number' }), {
        code: 'BAD_GRAPH',
        message: `expected the name of a scalar of the schema, got '${name}'`,
      });
    }
  });

  it('follow from the schema alone where the code can not be loaded, and say why', async (t) => {
    const folder = await projectWith(t, { 'graph.ts': `import './missing.ts';` });
    const { file, faults } = await writeTypes(folder);
    assert.match(faults[0]?.message ?? '', /the code of the graph can't be loaded.*missing/);
    assert.match(await readFile(file, 'utf8'), /export type Resolvers</);
  });

  it('are not written where the schema is wrong', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': 'type Query { a: Int }' });
    await assert.rejects(writeTypes(folder), /schema\.graphql:1:1: error: expected a type Subscription/);
  });

  it('replace no file that was written by hand', async (t) => {
    const folder = await projectWith(t, { 'types.ts': 'export type Mine = 1;\n' });
    const file = path.join(folder, 'types.ts');
    await assert.rejects(writeTypes(folder, file), /expected no file .*types\.ts, or one that sluice types/);
    assert.equal(await readFile(file, 'utf8'), 'export type Mine = 1;\n');
    await writeTypes(folder);
    await writeTypes(folder);
  });

  it('are refused, with its name, a file that can not be written', async (t) => {
    const folder = await projectWith(t, { 'types.ts/other.ts': '' });
    for (const name of ['types.ts', 'missing/types.ts']) {
      const file = path.join(folder, name);
      await assert.rejects(writeTypes(folder, file), ({ code, message }: Error & { code: string }) => {
        assert.equal(code, 'BAD_GRAPH');
        assert.ok(message.startsWith(`expected a file ${file} that can be written: E`), message);
        return true;
      });
    }
  });

  it('are written where the code of a type is no object', async (t) => {
    const code = `import { defineGraph } from 'sluice';\nexport default defineGraph({ resolvers: { Parcel: null } });`;
    const { file } = await writeTypes(await projectWith(t, { 'graph.js': code }));
    assert.match(await readFile(file, 'utf8'), /Parcel: Parcel;/);
  });

  it('want GraphQL Code Generator in the project', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA });
    await assert.rejects(writeTypes(folder), {
      code: 'MISSING_PACKAGE',
      message: /npm install --save-dev @graphql-codegen\/core @graphql-codegen\/typescript /,
    });
  });

  it('say which package one of these wants in vain, as of a project of Yarn without graphql', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': SCHEMA,
      'node_modules/@graphql-codegen/core/index.js': `require('graphql-of-the-project');`,
    });
    await assert.rejects(writeTypes(folder), { message: /Cannot find module 'graphql-of-the-project'/ });
  });
});

import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Scope } from './scope.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Makes a graph's folder outside the repository, with files by their paths. It is removed with its scope. */
export async function graphFolder(scope: Scope, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder(scope);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  return folder;
}

/** A graph of one subscription field on one topic. */
export function itemSchema(topic: string): string {
  return `
    type Subscription {
      item(id: [ID!]): Item @event(topic: "${topic}", key: "id")
      expensive_item(min_price: Int): Item @event(topic: "${topic}") @filter(where: { price: { gte: "$min_price" } })
    }
    type Item { id: ID! n: Int seller_name: String price: Int tags: [String!] }
  `;
}

/** Makes the folder of a graph of `itemSchema`, with these further files. */
export const itemGraph = (
  scope: Scope,
  topic: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> => graphFolder(scope, { 'schema.graphql': itemSchema(topic), ...more });

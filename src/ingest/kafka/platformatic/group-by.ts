/** Node.js has Map.groupBy from 21 on. */
export function groupBy<Key, Item>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const result = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const present = result.get(key);
    if (present === undefined) result.set(key, [item]);
    else present.push(item);
  }
  return result;
}

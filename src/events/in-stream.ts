/** Where a record is: a stream of several topics has several partitions of one number, and several records of one key. */
interface Placed {
  /** Topic. Needed with `m`. */
  readonly t?: string;
  /** Whether the stream has several topics. Absent: it has this one. */
  readonly m?: 1 | undefined;
}

/** @returns the name of the partition among those of the stream */
export function partitionIn({ t = '', m, p }: Placed & { readonly p: number }): number | string {
  return m === undefined ? p : `${t}/${p}`;
}

/** @returns a text for the Kafka key that tells it from the keys of the stream's other topics; null if there is none */
export function keyIn({ t = '', m, key }: Placed & { readonly key: string | null }): string | null {
  return m === undefined || key === null ? key : `${t}/${key}`;
}

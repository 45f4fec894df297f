import assert from 'node:assert/strict';
import type { RawSocket } from './raw-socket.ts';

export interface Said {
  readonly n: number;
  readonly key: string;
  /** 0 if the query does not ask for it. */
  readonly version: number;
  /** The number of events that were left out before this one. */
  readonly skipped: number;
}

interface Next {
  readonly data: Readonly<Record<string, Pick<Said, 'n' | 'key'> & { readonly version?: number }>>;
  readonly extensions?: { readonly gap?: { readonly skipped: number } };
}

/** All results of the socket's subscription, whose field is a `Said { n: Int! key: ID! version: Int }`. */
export function saidTo({ messages }: RawSocket): Said[] {
  return messages
    .filter(({ type }) => type === 'next')
    .map(({ payload }) => {
      const { data, extensions } = payload as Next;
      const [said] = Object.values(data);
      assert.ok(said !== undefined);
      return { ...said, version: said.version ?? 0, skipped: extensions?.gap?.skipped ?? 0 };
    });
}

/** Where Redis is. */
type RedisPlace =
  | { readonly url: string }
  | {
      readonly sentinels: readonly Address[];
      /** The name by which Sentinel knows it. */
      readonly master: string;
    }
  | {
      /** Some nodes of a cluster, which are asked for the others. */
      readonly nodes: readonly Address[];
      /** Topics whose channels are spread over several slots. They have no history. */
      readonly spread?: ReadonlySet<string>;
    }
  | {
      /** The address of a node of a cluster. */
      readonly address: Address;
    };

export interface Address {
  readonly host: string;
  readonly port: number;
}

export const keyOfAddress = ({ host, port }: Address): string => `${host}:${port}`;

/** How a pod authenticates itself to Redis, and verifies Redis. */
export interface RedisCredentials {
  /** Where the URL has none. */
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly sentinelUsername?: string | undefined;
  readonly sentinelPassword?: string | undefined;
  /** PEM: the authority that signed the certificates of Redis and Sentinel; undefined: those that Node.js trusts. */
  readonly ca?: string | undefined;
  /** PEM: the pod's own certificate, and its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export type RedisAccess = RedisPlace & {
  /** Whether Redis and Sentinel are reached over TLS. In a URL, `rediss:` says so. */
  readonly tls?: boolean;
  /** Called before each attempt to connect. Must not throw. Default: none. */
  readonly credentials?: () => RedisCredentials;
};

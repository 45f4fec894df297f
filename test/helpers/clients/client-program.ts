/** What one subscription of a library tells its program. */
export interface Listener {
  next(result: {
    readonly data?: unknown;
    readonly errors?: readonly { readonly message: string }[] | undefined;
  }): void;
  error(error: unknown): void;
  complete(): void;
}

/** A program that uses one library, connected to one gateway. */
export interface Connected {
  /** Undefined for a library without subscriptions. */
  subscribe?(query: string, variables: Readonly<Record<string, unknown>>, listener: Listener): () => void;
  /** @returns the data; undefined for a library that is used for subscriptions only */
  query?(query: string): Promise<unknown>;
  close(): unknown;
}

export interface ClientProgram {
  /** The package, as it is installed here. */
  readonly module: string;
  readonly transport: string;
  /** Why it does not come back by itself after its pod was replaced; absent: it does. */
  readonly staysAway?: string;
  /** @param user is told to `authenticate` */
  connect(urls: Urls, user: string): Connected;
}

export interface Urls {
  readonly http: string;
  readonly webSocket: string;
}

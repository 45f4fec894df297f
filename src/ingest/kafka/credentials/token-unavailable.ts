/** There is no token to show to brokers. */
export class TokenUnavailable extends Error {
  /** Whether its source may have one later without anyone doing anything. */
  readonly retriable: boolean;

  constructor(
    message: string,
    { retriable, cause }: { readonly retriable: boolean; readonly cause?: unknown },
  ) {
    super(message, { cause });
    this.name = 'TokenUnavailable';
    this.retriable = retriable;
  }
}

/** There is no token to show to brokers. */
export class TokenUnavailable extends Error {
  /** Whether the source may have a token later without anyone doing anything. */
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

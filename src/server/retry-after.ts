/** Clients that are refused together come back spread over so many seconds. */
const RETRY_WITHIN_SECONDS = 10;

/**
 * @param random 0 to 1, like Math.random
 * @returns whole seconds after which a client that is refused may come back
 */
export function retryAfter(random: () => number): number {
  return 1 + Math.floor(random() * RETRY_WITHIN_SECONDS);
}

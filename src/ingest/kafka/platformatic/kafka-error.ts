import {
  AuthenticationError,
  NetworkError,
  ResponseError,
  TimeoutError,
  type ProtocolError,
} from '#@platformatic/kafka';
import { messageOf, SluiceError } from '../../../errors.ts';
import { TokenUnavailable } from '../credentials/token-unavailable.ts';

/** Error codes of Kafka's protocol. */
export const CODE = {
  unknownServerError: -1,
  offsetOutOfRange: 1,
  corruptMessage: 2,
  unknownTopic: 3,
  messageTooLarge: 10,
  coordinatorLoading: 14,
  coordinatorUnavailable: 15,
  notCoordinator: 16,
  recordListTooLarge: 18,
  illegalGeneration: 22,
  unknownMember: 25,
  rebalanceInProgress: 27,
  topicAuthorization: 29,
  unsupportedVersion: 35,
  nonEmptyGroup: 68,
  groupNotFound: 69,
  memberIdRequired: 79,
  fencedInstance: 82,
  unstableOffsets: 88,
  fencedMemberEpoch: 110,
  unreleasedInstance: 111,
  staleMemberEpoch: 113,
} as const;

interface KafkaErrorOptions extends Pick<KafkaError, 'isRetriable'> {
  readonly codes?: readonly number[];
  readonly response?: unknown;
  readonly cause?: unknown;
}

/** A request that Kafka has refused, or not answered; the message says which one, and what came. */
export class KafkaError extends Error {
  /** The error codes of Kafka's answer; none if it has not answered. */
  readonly codes: readonly number[];
  /** Whether the same attempt may succeed later. */
  readonly isRetriable: boolean;
  /** The answer with these codes. */
  readonly response: unknown;

  constructor(message: string, { codes = [], response, cause, ...told }: KafkaErrorOptions) {
    super(message, { cause });
    this.name = 'KafkaError';
    this.codes = codes;
    this.isRetriable = told.isRetriable;
    this.response = response;
  }

  has(...codes: readonly number[]): boolean {
    return this.codes.some((code) => codes.includes(code));
  }
}

/** @param doing what was asked, such as `joining the group` */
export function kafkaError(thrown: unknown, doing: string): KafkaError {
  if (thrown instanceof KafkaError) return thrown;
  if (thrown instanceof ResponseError) {
    const errors = thrown.errors as ProtocolError[];
    const codes = errors.map((each) => each['apiCode'] as number);
    const texts = new Set(errors.map(({ message }) => message));
    return new KafkaError(`${doing}: ${[...texts].join('; ')}`, {
      codes,
      isRetriable: errors.every((each) => each['canRetry'] === true),
      response: (thrown as unknown as { response: unknown }).response,
      cause: thrown,
    });
  }
  const isNetwork = thrown instanceof NetworkError || thrown instanceof TimeoutError;
  return new KafkaError(`${doing}: ${detailsOf(thrown)}`, { isRetriable: isNetwork, cause: thrown });
}

/** The client's errors of a connection say the reason only in their cause. */
function detailsOf(thrown: unknown): string {
  const message = messageOf(thrown);
  return thrown instanceof NetworkError && thrown.cause instanceof Error
    ? `${message} (${messageOf(thrown.cause)})`
    : message;
}

/** The error of a connection if its credentials are missing or refused; undefined if it failed for another reason. */
export function refusalOf(thrown: unknown, mechanism: string | undefined): KafkaError | undefined {
  const chain: Error[] = [];
  for (let at = thrown; at instanceof Error; at = at.cause) chain.push(at);
  // The client reports a missing secret as a refused one.
  const missing = chain.find((each) => each instanceof TokenUnavailable || each instanceof SluiceError);
  if (missing !== undefined) {
    const mayComeLater = missing instanceof TokenUnavailable && missing.retriable;
    return new KafkaError(missing.message, { isRetriable: mayComeLater, cause: thrown });
  }
  const refused = chain.find((each) => each instanceof AuthenticationError);
  if (refused === undefined) return undefined;
  const why = refused.cause === undefined ? refused.message : serverMessage(refused.cause);
  const message = `SASL ${mechanism ?? ''} authentication failed: ${why}`;
  return new KafkaError(message, { isRetriable: false, cause: thrown });
}

function serverMessage(thrown: unknown): string {
  if (!(thrown instanceof ResponseError)) return messageOf(thrown);
  const [first] = thrown.errors as ProtocolError[];
  const told = first?.['serverErrorMessage'];
  return typeof told === 'string' && told !== '' ? told : messageOf(first ?? thrown);
}

export function isRetriable(error: unknown): boolean {
  return error instanceof KafkaError && error.isRetriable;
}

/** Whether a broker has refused records as too large for the topic, one of them or all together. */
export function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof KafkaError && thrown.has(CODE.messageTooLarge, CODE.recordListTooLarge);
}

import kafkajs from '#kafkajs';

/** Whether a broker has refused records because the topic takes no larger ones, or no more of them together. */
export function isTooLarge(thrown: unknown): boolean {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  return (
    cause instanceof kafkajs.KafkaJSProtocolError &&
    ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'].includes(cause.type)
  );
}

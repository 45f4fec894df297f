import kafkajs from '#kafkajs';

/** Whether a broker has refused records as too large for the topic, one of them or all together. */
export function isTooLarge(thrown: unknown): boolean {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  return (
    cause instanceof kafkajs.KafkaJSProtocolError &&
    ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'].includes(cause.type)
  );
}

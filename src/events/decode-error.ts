import { SluiceError } from '../errors.ts';

/** Why a record is no event, as a closed list: these are values of a metric's label. */
export type DecodeErrorReason =
  | 'empty'
  | 'invalid_utf8'
  | 'not_json'
  | 'not_an_object'
  /** Bytes that do not follow the schema that they name, or no such schema is named. */
  | 'malformed'
  /** The registry has no schema of the record's id. */
  | 'unknown_schema'
  /** The schema can't be read, or is of another format than the topic's. */
  | 'bad_schema'
  | 'too_deep'
  /** A key that could change an object's prototype: `__proto__`, or `constructor` holding `prototype`. */
  | 'forbidden_key'
  /** The topic's own `decode` threw, or returned a value that JSON can't hold. */
  | 'decode_failed'
  /** More distinct values under one routing key than an event may be published to. */
  | 'too_many_keys'
  /** The record takes more memory than a pod has for one. */
  | 'too_large'
  /** The message's bytes times its channels that have subscribers are more than `MAX_EVENT_FANOUT_BYTES`. */
  | 'too_wide'
  /** To decode the record has held up the event loop for more than two seconds, twice. */
  | 'too_slow';

/** Thrown for a record that can't become an event. */
export class DecodeError extends SluiceError {
  readonly reason: DecodeErrorReason;

  constructor(reason: DecodeErrorReason, message: string, options?: ErrorOptions) {
    super('UNDECODABLE', message, options);
    this.name = 'DecodeError';
    this.reason = reason;
  }
}

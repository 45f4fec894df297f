import { SluiceError } from '../../errors.ts';

/** The schema is not here yet: the registry is away, refuses, or takes its time. */
export class SchemaUnavailable extends SluiceError {
  /** Resolves when it is worth asking again. */
  readonly over: Promise<void>;

  constructor(message: string, over: Promise<void>, options?: ErrorOptions) {
    super('SCHEMA_UNAVAILABLE', message, options);
    this.name = 'SchemaUnavailable';
    this.over = over;
  }
}

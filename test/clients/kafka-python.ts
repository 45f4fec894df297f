import type { TestContext } from 'node:test';
import { clientTool, kafkaBrokers } from '../helpers/services.ts';
import path from 'node:path';
import { ROOT } from '../docs/markdown.ts';
import { Program } from './program.ts';

interface Produced {
  readonly topic: string;
  readonly values: readonly unknown[];
  /** As the registry names it; absent: JSON without a schema. */
  readonly format?: 'AVRO' | 'PROTOBUF' | 'JSON';
  /** Of Protobuf: the compiled file, in base64. */
  readonly schema?: string;
  /** Of Protobuf: the message's full name. */
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
  readonly partition?: number;
}

/** Python's clients of Kafka and of the schema registry: producers and decoders that know nothing of this project. */
export class KafkaPython {
  readonly #program: Program;
  #calls = 0;

  /** @param brokers undefined: it only decodes */
  constructor(t: TestContext, brokers = true) {
    const file = path.join(ROOT, 'test/clients/kafka-python/program.py');
    const environment = brokers ? { KAFKA_BROKERS: kafkaBrokers() } : {};
    this.#program = Program.spawn(t, [clientTool('kafka-python'), file], environment);
  }

  /** @param registry URL of Confluent's API */
  connect(registry: string): Promise<unknown> {
    return this.#call('connect', { registry });
  }

  register(subject: string, format: 'AVRO' | 'PROTOBUF' | 'JSON', schema: string): Promise<unknown> {
    return this.#call('register', { subject, format, schema });
  }

  produce(produced: Produced): Promise<unknown> {
    return this.#call('produce', { ...produced });
  }

  decodeAvro(schema: string, value: Buffer): Promise<unknown> {
    return this.#call('decode_avro', { schema, value: value.toString('base64') });
  }

  /** Registers the schema of values that are produced later. */
  serialize(produced: Produced): Promise<unknown> {
    return this.#call('serialize', { ...produced });
  }

  /** @param file compiled, in base64 */
  decodeProtobuf(file: string, message: string, value: Buffer): Promise<unknown> {
    return this.#call('decode_protobuf', { file, message, value: value.toString('base64') });
  }

  async #call(name: string, given: object): Promise<unknown> {
    this.#calls += 1;
    const id = String(this.#calls);
    this.#program.command({ id, do: name, ...given });
    const [data] = await this.#program.untilData(id, 1);
    return data;
  }
}

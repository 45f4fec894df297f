import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../errors.ts';
import { avroDecoder } from '../../formats/avro.ts';
import { readAvroSchema } from '../../formats/avro-schema.ts';
import { SchemaFault } from '../../formats/schema-fault.ts';
import { describeSchema } from '../../formats/describe.ts';
import { describeProtobuf } from '../../formats/describe-protobuf.ts';
import type { DescribedObject } from '../../formats/described.ts';
import type { Decoder, Naming } from '../../formats/decoder.ts';
import { protobufDecoder } from '../../formats/protobuf.ts';
import { importsOf, ProtobufSchema, type ProtobufFile } from '../../formats/protobuf-schema.ts';
import type { Shape } from '../../formats/shape.ts';
import type { Findings } from '../diagnostic.ts';
import type { EventField } from '../directives/event-field.ts';
import type { FormatName } from '../graph.ts';
import { needsSchema } from './encoding.ts';

/** Most files that a .proto file may import, directly or not. */
const MAX_IMPORTS = 1_000;

/** A schema from the graph's folder. */
interface LocalSchema {
  decoder(shape: Shape | undefined, naming: Naming): Decoder;
  describe(): DescribedObject;
}

/** The schemas that a graph has in its folder, for topics whose messages name none. */
export class LocalSchemas {
  readonly #folder: string;
  readonly #findings: Findings;
  readonly #schemas = new Map<string, LocalSchema>();

  private constructor(folder: string, findings: Findings) {
    this.#folder = path.resolve(folder);
    this.#findings = findings;
  }

  /** Reads the files that `@event` names. Faults are added to the findings. */
  static async read(
    fields: readonly EventField[],
    folder: string,
    findings: Findings,
  ): Promise<LocalSchemas> {
    const schemas = new LocalSchemas(folder, findings);
    for (const field of fields) {
      const { format, keyFormat, schema, keySchema } = field.encoding;
      await schemas.#add(field, 'schema', format, schema);
      await schemas.#add(field, 'keySchema', keyFormat, keySchema);
    }
    return schemas;
  }

  /** @returns undefined if there is no such schema */
  get(format: FormatName | undefined, reference: string | undefined): LocalSchema | undefined {
    return this.#schemas.get(`${format} ${reference}`);
  }

  async #add(
    { placeOfArgument }: EventField,
    argument: 'schema' | 'keySchema',
    format: FormatName | undefined,
    reference: string | undefined,
  ): Promise<void> {
    if (reference === undefined) return;
    const place = placeOfArgument(argument);
    if (!needsSchema(format)) {
      const of = argument === 'schema' ? 'format' : 'keyFormat';
      const message = `${argument}: expected none, as ${of} is ${format ?? 'not given'}, got "${reference}"`;
      this.#findings.error(place, message, `Leave it out, or write ${of}: AVRO or ${of}: PROTOBUF.`);
      return;
    }
    if (this.get(format, reference) !== undefined) return;
    try {
      const schema = format === 'AVRO' ? await this.#avro(reference) : await this.#protobuf(reference);
      this.#schemas.set(`${format} ${reference}`, schema);
    } catch (error) {
      const hint =
        format === 'AVRO'
          ? 'It names a file in the folder of the graph: "order.avsc".'
          : 'It names a file in the folder of the graph, and a message: "orders.proto#acme.Order".';
      this.#findings.error(place, `${argument} "${reference}": ${messageOf(error)}`, hint);
    }
  }

  async #avro(file: string): Promise<LocalSchema> {
    const text = await this.#textOf(file);
    readAvroSchema(text);
    return {
      decoder: (shape, naming) => avroDecoder(text, [], shape, naming),
      describe: () => describeSchema({ format: 'AVRO', text }),
    };
  }

  async #protobuf(reference: string): Promise<LocalSchema> {
    const end = reference.lastIndexOf('#');
    const schema = await this.#protobufSchema(end < 0 ? reference : reference.slice(0, end));
    const type = end < 0 ? schema.only() : schema.message(reference.slice(end + 1));
    return {
      decoder: (shape, naming) => protobufDecoder(type, shape, naming),
      describe: () => describeProtobuf(type),
    };
  }

  /** Imports are files of the folder, too, except Google's own. */
  async #protobufSchema(file: string): Promise<ProtobufSchema> {
    const text = await this.#textOf(file);
    const files = new Map<string, ProtobufFile>();
    const waiting = importsOf(text);
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (files.has(name) || name.startsWith('google/protobuf/')) continue;
      if (files.size >= MAX_IMPORTS)
        throw new SchemaFault(`expected at most ${MAX_IMPORTS} imports, got more`);
      const imported = { name, text: await this.#textOf(name) };
      files.set(name, imported);
      waiting.push(...importsOf(imported.text));
    }
    return new ProtobufSchema(text, [...files.values()]);
  }

  async #textOf(file: string): Promise<string> {
    const absolute = path.resolve(this.#folder, file);
    if (!absolute.startsWith(this.#folder + path.sep)) {
      throw new SchemaFault(`expected a file in the folder of the graph, got ${file}`);
    }
    try {
      return await readFile(absolute, 'utf8');
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      throw new SchemaFault(code === 'ENOENT' ? `there is no file ${file}` : messageOf(cause), { cause });
    }
  }
}

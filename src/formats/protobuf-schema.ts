import { createRequire } from 'node:module';
import { messageOf, SluiceError } from '../errors.ts';
import { SchemaFault } from './avro-schema.ts';

interface Root extends Namespace {
  addJSON(json: object): unknown;
  resolveAll(): unknown;
  lookup(path: string): unknown;
  toDescriptor(edition: string): { readonly file: readonly ProtobufDescriptor[] };
}

/** A file that has been compiled. */
interface ProtobufDescriptor {
  readonly package: string;
  readonly dependency: readonly string[];
  readonly messageType: readonly { readonly name: string }[];
}

/** The parts of protobufjs that are used. It reads .proto files, as text and compiled; `protobuf.ts` reads values. */
interface Protobufjs {
  readonly Root: {
    new (): Root;
    fromDescriptor(files: { readonly file: readonly ProtobufDescriptor[] }): Root;
  };
  readonly parse: (
    text: string,
    root: object,
    options: { readonly keepCase: boolean; readonly alternateCommentMode: boolean },
  ) => { readonly package?: string | null; readonly imports?: readonly string[] };
  readonly common: { get(file: string): { readonly nested: object } | null };
  readonly Type: new () => ProtobufMessage;
}

/** protobufjs/ext/descriptor */
interface Descriptors {
  readonly FileDescriptorProto: { decode(bytes: Uint8Array): ProtobufDescriptor };
}

interface Namespace {
  readonly nestedArray: readonly unknown[];
}

export interface ProtobufEnum {
  readonly name: string;
  readonly valuesById: Readonly<Record<number, string>>;
  readonly comment: string | null;
}

export interface ProtobufMessage extends Namespace {
  readonly name: string;
  /** With a dot before it. */
  readonly fullName: string;
  readonly fieldsArray: readonly ProtobufField[];
  readonly comment: string | null;
}

export interface ProtobufField {
  readonly name: string;
  readonly id: number;
  /** int64, string, … or the name of a message or an enum. */
  readonly type: string;
  /** Null for the types that Protobuf has itself. */
  readonly resolvedType: ProtobufMessage | ProtobufEnum | null;
  readonly repeated: boolean;
  readonly map: boolean;
  /** Of a map. */
  readonly keyType?: string;
  /** The oneof that the field belongs to. */
  readonly partOf: object | null | undefined;
  /** Whether it is any but false: whether an absent field differs from one with the default. */
  readonly hasPresence: unknown;
  /** Whether it is a group, which ends with a tag. */
  readonly delimited: boolean;
  readonly comment: string | null;
  /** Explicit options, such as the default. */
  getOption(name: string): unknown;
}

/** A .proto file that others import. */
export interface ProtobufFile {
  /** As it is imported: `acme/common.proto`. */
  readonly name: string;
  readonly text: string;
}

/** Which of a file's messages: its full name, or indexes from the top-level messages inward, as Confluent writes them. */
export type MessageChoice = string | readonly number[];

let loaded: (Protobufjs & Descriptors) | undefined;

/**
 * Loads protobufjs, which is not among the gateway's dependencies.
 *
 * @throws SluiceError MISSING_PACKAGE
 */
export function loadProtobufjs(): Protobufjs & Descriptors {
  try {
    if (loaded === undefined) {
      const require = createRequire(import.meta.url);
      const { FileDescriptorProto } = require('protobufjs/ext/descriptor') as Descriptors;
      loaded = { ...(require('protobufjs') as Protobufjs), FileDescriptorProto };
    }
    return loaded;
  } catch (cause) {
    const [reason = ''] = messageOf(cause).split('\n');
    throw new SluiceError(
      'MISSING_PACKAGE',
      `expected protobufjs to be installed beside sluice (npm install protobufjs), as a topic has format: PROTOBUF; got: ${reason}`,
      { cause },
    );
  }
}

/** Compiled files in base64, as some serializers register them, and registries return them. */
const COMPILED = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

/** A schema, with the messages that its file itself defines. */
export class ProtobufSchema {
  readonly #root: Root;
  readonly #package: string | null;
  readonly #messages: readonly ProtobufMessage[];
  readonly #Type: Protobufjs['Type'];

  /**
   * @param text of a .proto file, or the file compiled, in base64
   * @param files that it imports, in the same form
   * @throws SchemaFault, or SluiceError MISSING_PACKAGE
   */
  constructor(text: string, files: readonly ProtobufFile[]) {
    const protobufjs = loadProtobufjs();
    this.#Type = protobufjs.Type;
    try {
      const read = COMPILED.test(text)
        ? fromCompiled(text, files, protobufjs)
        : fromText(text, files, protobufjs);
      this.#root = read.root;
      this.#package = read.package;
      this.#messages = this.#messagesIn({ nestedArray: read.types });
    } catch (cause) {
      if (cause instanceof SchemaFault) throw cause;
      throw new SchemaFault(`expected a .proto file: ${messageOf(cause)}`, { cause });
    }
  }

  /** @throws SchemaFault */
  message(choice: MessageChoice): ProtobufMessage {
    if (typeof choice === 'string') return this.#named(choice);
    let among = this.#messages;
    let found: ProtobufMessage | undefined;
    for (const index of choice) {
      found = among[index];
      if (found === undefined) break;
      among = this.#messagesIn(found);
    }
    if (found === undefined)
      throw new SchemaFault(`expected message ${choice.join('.')} of the file, got fewer`);
    return found;
  }

  /** The first message of the file that no other one of it holds. @throws SchemaFault */
  outermost(): ProtobufMessage {
    const held = new Set(
      this.#messages.flatMap((message) =>
        message.fieldsArray.map(({ resolvedType }) => resolvedType).filter((type) => type !== message),
      ),
    );
    const index = this.#messages.findIndex((message) => !held.has(message));
    return this.message([Math.max(index, 0)]);
  }

  #named(name: string): ProtobufMessage {
    const within = this.#package === null ? name : `${this.#package}.${name}`;
    const found = [name, within].map((one) => this.#root.lookup(one)).find((one) => this.#isMessage(one));
    if (found !== undefined) return found as ProtobufMessage;
    const known = this.#messages.map((message) => message.fullName.slice(1)).join(', ');
    throw new SchemaFault(`expected one of the messages ${known}, got ${name}`);
  }

  #messagesIn({ nestedArray }: Namespace): ProtobufMessage[] {
    return nestedArray.filter((one): one is ProtobufMessage => this.#isMessage(one));
  }

  #isMessage(one: unknown): boolean {
    return one instanceof this.#Type;
  }
}

export function isEnum(type: ProtobufMessage | ProtobufEnum): type is ProtobufEnum {
  return 'valuesById' in type;
}

interface ReadFile {
  readonly root: Root;
  readonly package: string | null;
  /** Types at the top of the file, in order. */
  readonly types: readonly unknown[];
}

function fromText(text: string, files: readonly ProtobufFile[], protobufjs: Protobufjs): ReadFile {
  const root = new protobufjs.Root();
  const imports = new Set<string>();
  const parse = (source: string): string | null => {
    const parsed = protobufjs.parse(source, root, { keepCase: true, alternateCommentMode: true });
    for (const name of parsed.imports ?? []) imports.add(name);
    return parsed.package ?? null;
  };
  const name = parse(text);
  // Before other files add messages to the package: indexes count those of this file.
  const types = [...(name === null ? root : (root.lookup(name) as Namespace)).nestedArray];
  for (const file of files) parse(file.text);
  addCommon(root, imports, files, protobufjs);
  root.resolveAll();
  return { root, package: name, types };
}

function fromCompiled(
  text: string,
  files: readonly ProtobufFile[],
  protobufjs: Protobufjs & Descriptors,
): ReadFile {
  const decode = (base64: string): ProtobufDescriptor =>
    protobufjs.FileDescriptorProto.decode(Buffer.from(base64, 'base64'));
  const file = decode(text);
  const others = files.map((one) => decode(one.text));
  const imports = new Set([file, ...others].flatMap(({ dependency }) => dependency));
  const common = new protobufjs.Root();
  addCommon(common, imports, files, protobufjs);
  common.resolveAll();
  const all = [...common.toDescriptor('proto3').file, ...others, file];
  const root = protobufjs.Root.fromDescriptor({ file: all });
  const types = file.messageType.map(({ name }) =>
    root.lookup(file.package === '' ? name : `${file.package}.${name}`),
  );
  return { root, package: file.package === '' ? null : file.package, types };
}

/** Adds Google's own types, which come with protobufjs. @throws SchemaFault if another import is missing */
function addCommon(
  root: Root,
  imports: ReadonlySet<string>,
  files: readonly ProtobufFile[],
  { common }: Protobufjs,
): void {
  const given = new Set(files.map(({ name }) => name));
  for (const name of imports) {
    if (given.has(name)) continue;
    const known = common.get(name);
    if (known === null) throw new SchemaFault(`expected the file ${name}, which is imported, got none`);
    root.addJSON(known.nested);
  }
}

/** Names of the files that a .proto file imports. @throws SchemaFault, or SluiceError MISSING_PACKAGE */
export function importsOf(text: string): string[] {
  const { parse, Root: New } = loadProtobufjs();
  try {
    return [...(parse(text, new New(), { keepCase: true, alternateCommentMode: true }).imports ?? [])];
  } catch (cause) {
    throw new SchemaFault(`expected a .proto file: ${messageOf(cause)}`, { cause });
  }
}

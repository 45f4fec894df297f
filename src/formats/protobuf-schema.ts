import { createRequire } from 'node:module';
import { messageOf, SluiceError } from '../errors.ts';
import { COMMON_FILES } from './protobuf-common.ts';
import { SchemaFault } from './schema-fault.ts';

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
  readonly messageType: readonly MessageDescriptor[];
}

interface MessageDescriptor {
  readonly name: string;
  readonly field: readonly object[];
  /** The messages within it, entries of maps among them. */
  readonly nestedType: readonly MessageDescriptor[];
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
  readonly common: {
    (file: string, json: object): void;
    get(file: string): { readonly nested: object } | null;
  };
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
  /** As in the .proto file; protobufjs has names in camelCase for files that are compiled. */
  readonly protoName: string;
  readonly id: number;
  /** int64, string, … or the name of a message or an enum. */
  readonly type: string;
  /** Null for the types that Protobuf has itself. */
  readonly resolvedType: ProtobufMessage | ProtobufEnum | null;
  readonly repeated: boolean;
  readonly map: boolean;
  /** The type of a map's keys; undefined: the field is no map. */
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

const DESCRIPTOR = 'google/protobuf/descriptor.proto';

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
      const protobufjs = require('protobufjs') as Protobufjs;
      // Files with options of their own extend its types.
      protobufjs.common(DESCRIPTOR, require(`protobufjs/${DESCRIPTOR.replace('.proto', '.json')}`) as object);
      loaded = { ...protobufjs, FileDescriptorProto };
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
const COMPILED = /^[A-Za-z0-9+/]+={0,2}$/;

/** A schema, with the messages that its file itself defines. */
export class ProtobufSchema {
  readonly #root: Root;
  readonly #package: string | null;
  readonly #messages: readonly ProtobufMessage[];
  /** The messages of a compiled file, with entries of maps; undefined: the file is text. */
  readonly #descriptors: readonly MessageDescriptor[] | undefined;
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
      const read = COMPILED.test(text.trim())
        ? fromCompiled(text, files, protobufjs)
        : fromText(text, files, protobufjs);
      this.#root = read.root;
      this.#package = read.package;
      this.#messages = this.#messagesIn({ nestedArray: read.types });
      this.#descriptors = read.descriptors;
    } catch (cause) {
      if (cause instanceof SchemaFault) throw cause;
      throw new SchemaFault(`expected a .proto file: ${messageOf(cause)}`, { cause });
    }
  }

  /** @throws SchemaFault */
  message(choice: MessageChoice): ProtobufMessage {
    if (typeof choice === 'string') return this.#named(choice);
    if (this.#descriptors !== undefined) return this.#described(choice, this.#descriptors);
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

  /** The only message of the file that no other one of it holds. @throws SchemaFault if there are several */
  only(): ProtobufMessage {
    const outer = this.#outer();
    if (outer.length <= 1) return this.outermost();
    const names = outer.map(({ fullName }) => fullName.slice(1)).join(', ');
    throw new SchemaFault(`expected a message behind the file, #…, as it has several: ${names}`);
  }

  /** The first message of the file that no other one of it holds. @throws SchemaFault */
  outermost(): ProtobufMessage {
    const [first] = this.#outer();
    return first ?? this.message([0]);
  }

  #outer(): ProtobufMessage[] {
    const held = new Set(
      this.#messages.flatMap((message) =>
        message.fieldsArray.map(({ resolvedType }) => resolvedType).filter((type) => type !== message),
      ),
    );
    return this.#messages.filter((message) => !held.has(message));
  }

  /** Serializers that register compiled files count entries of maps as messages, too. */
  #described(choice: readonly number[], descriptors: readonly MessageDescriptor[]): ProtobufMessage {
    let among = descriptors;
    const names: string[] = [];
    for (const index of choice) {
      const { name, nestedType } = among[index] ?? {};
      if (name === undefined)
        throw new SchemaFault(`expected message ${choice.join('.')} of the file, got fewer`);
      names.push(name);
      among = nestedType ?? [];
    }
    return this.#named(names.join('.'));
  }

  #named(name: string): ProtobufMessage {
    const within = this.#package === null ? name : `${this.#package}.${name}`;
    const found = [within, name].map((one) => this.#root.lookup(one)).find((one) => this.#isMessage(one));
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
  readonly descriptors?: readonly MessageDescriptor[];
}

function fromText(text: string, files: readonly ProtobufFile[], protobufjs: Protobufjs): ReadFile {
  const root = new protobufjs.Root();
  const imports = new Set<string>();
  const parse = (source: string): string | null => {
    checkStatements(source);
    const parsed = protobufjs.parse(source, root, { keepCase: true, alternateCommentMode: true });
    for (const name of parsed.imports ?? []) imports.add(name);
    return parsed.package ?? null;
  };
  const name = parse(text);
  // Before other files add messages to the package: indexes count those of this file.
  const types = [...(name === null ? root : (root.lookup(name) as Namespace)).nestedArray];
  // A file may be imported under several names.
  for (const source of new Set(files.map((file) => file.text))) parse(source);
  addCommon(root, imports, files, protobufjs);
  root.resolveAll();
  return { root, package: name, types };
}

function fromCompiled(
  text: string,
  files: readonly ProtobufFile[],
  protobufjs: Protobufjs & Descriptors,
): ReadFile {
  const decode = (base64: string): ProtobufDescriptor => {
    const decoded = protobufjs.FileDescriptorProto.decode(Buffer.from(base64, 'base64'));
    for (const { name, field } of decoded.messageType) {
      if (field.length > MAX_STATEMENTS) throw tooManyFields(name);
    }
    return decoded;
  };
  const file = decode(text);
  const others = [...new Set(files.map((one) => one.text))].map(decode);
  const imports = new Set([file, ...others].flatMap(({ dependency }) => dependency));
  const common = new protobufjs.Root();
  addCommon(common, imports, files, protobufjs);
  common.resolveAll();
  const all = [...common.toDescriptor('proto3').file, ...others, file];
  const root = protobufjs.Root.fromDescriptor({ file: all });
  const types = file.messageType.map(({ name }) =>
    root.lookup(file.package === '' ? name : `${file.package}.${name}`),
  );
  return { root, package: file.package === '' ? null : file.package, types, descriptors: file.messageType };
}

/**
 * Adds Google's own types, which serializers do not register: those that come with protobufjs, and some of `google.type`. An
 * import that is missing matters only if a field is of one of its types, and not if it has options, for example.
 */
function addCommon(
  root: Root,
  imports: ReadonlySet<string>,
  files: readonly ProtobufFile[],
  protobufjs: Protobufjs,
): void {
  const given = new Set(files.map(({ name }) => name));
  for (const name of imports) {
    if (given.has(name)) continue;
    const known = protobufjs.common.get(name);
    const own = COMMON_FILES[name];
    if (known !== null) root.addJSON(known.nested);
    else if (own !== undefined) protobufjs.parse(own, root, { keepCase: true, alternateCommentMode: true });
  }
}

/** Fields, and other statements, of one message: protobufjs takes seconds for 10,000. */
const MAX_STATEMENTS = 2_000;

function tooManyFields(what: string): SchemaFault {
  return new SchemaFault(`expected messages of at most ${MAX_STATEMENTS} fields, got more in ${what}`);
}

/** @throws SchemaFault */
function checkStatements(text: string): void {
  const counts = [0];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '{') counts.push(0);
    else if (character === '}') counts.pop();
    else if (character === ';') {
      const last = counts.length - 1;
      counts[last] = (counts[last] ?? 0) + 1;
      if ((counts[last] ?? 0) > MAX_STATEMENTS) throw tooManyFields('a block');
    }
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

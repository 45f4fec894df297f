import { DecodeError } from '../../events/decode-error.ts';

/** Bytes of a schema, and characters of all schemas that it uses. */
export const MAX_BYTES = 16 * 1024 * 1024;
const MAX_REFERENCES = 1_000;

/** Schemas that a schema uses, behind those that they use themselves. One that has two names is there twice. */
export class References {
  readonly all: { name: string; text: string }[] = [];
  /** By subject and version; undefined while it is being fetched. */
  readonly #texts = new Map<string, string | undefined>();
  #characters = 0;

  /** @returns false if it need not be fetched: it is there, or is being fetched, as schemas may use each other in a circle */
  begin(key: string, name: string): boolean {
    if (this.#texts.has(key)) {
      const text = this.#texts.get(key);
      if (text !== undefined && this.all.every((one) => one.name !== name)) this.all.push({ name, text });
      return false;
    }
    this.#texts.set(key, undefined);
    if (this.#texts.size > MAX_REFERENCES) throw tooLarge(`${MAX_REFERENCES} references`);
    return true;
  }

  add(key: string, name: string, text: string): void {
    this.#characters += text.length;
    if (this.#characters > MAX_BYTES) throw tooLarge(`references of ${MAX_BYTES} characters`);
    this.#texts.set(key, text);
    this.all.push({ name, text });
  }
}

/** The fault of a schema that is too large. @param most that it may have */
export function tooLarge(most: string): DecodeError {
  return new DecodeError('bad_schema', `expected a schema with at most ${most}, got more`);
}

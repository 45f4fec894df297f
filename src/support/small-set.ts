/** A set that mostly holds no string or one. Only a second string makes it create a Set, which takes 200 bytes. */
export class SmallSet {
  #strings: string | Set<string> | undefined;

  get size(): number {
    if (typeof this.#strings === 'object') return this.#strings.size;
    return this.#strings === undefined ? 0 : 1;
  }

  has(value: string): boolean {
    return typeof this.#strings === 'object' ? this.#strings.has(value) : this.#strings === value;
  }

  add(value: string): void {
    if (typeof this.#strings === 'object') this.#strings.add(value);
    else if (this.#strings === undefined) this.#strings = value;
    else if (this.#strings !== value) this.#strings = new Set([this.#strings, value]);
  }

  delete(value: string): void {
    if (typeof this.#strings === 'object') this.#strings.delete(value);
    else if (this.#strings === value) this.#strings = undefined;
  }

  clear(): void {
    this.#strings = undefined;
  }
}

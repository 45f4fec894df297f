/** A lazy object with keys a and b, and the names of the values built so far. */
export function counted(): { o: { a: object; b: object }; built: string[] } {
  const built: string[] = [];
  const make = (name: string): object => {
    built.push(name);
    return { name };
  };
  return { o: Proxy.lazy({ a: make('a'), b: make('b') }), built };
}

import { exampleValue } from '../../../src/config/config.ts';
import { titleOf, valuesOf, type Manifest } from './manifests.ts';

/** Each place where an example's value was left, those in Secrets included. */
export const exampleValues = (manifests: readonly Manifest[]): string[] =>
  manifests.flatMap((manifest) => {
    const { data, ...rest } = manifest;
    return placesOf({ ...rest, ...(data !== undefined && { data: valuesOf(manifest) }) }).map(
      ({ path, value }) =>
        `${titleOf(manifest)}: expected a value of yours at ${path.join('.')}, got the example's ${value}`,
    );
  });

interface Place {
  readonly path: readonly string[];
  readonly value: string;
}

function placesOf(value: unknown, path: readonly string[] = []): Place[] {
  if (typeof value === 'string') {
    const example = exampleValue(value);
    return example === undefined ? [] : [{ path, value: example }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...path, key]));
}

import assert from 'node:assert/strict';
import { heapOfEach } from '../memory/heap-size.ts';

/** Objects of one kind, made in several ways. Their sizes are measured while many of them are held. */
export interface HeapCase {
  readonly name: string;
  readonly unit: string;
  open(): { readonly variants: readonly HeapVariant[]; close(): Promise<void> };
}

interface HeapVariant {
  readonly name: string;
  /** The number of objects that are held: more if each is small. */
  readonly count: number;
  make(): unknown;
  /** Returns all that such an object offers: the same for all variants of a case. */
  sample(): unknown;
}

/** The size of one object. */
export interface HeapMeasurement {
  readonly name: string;
  readonly objects: number;
  readonly bytes: number;
  /** Bytes as a multiple of the first variant's. */
  readonly ratio: number;
}

/**
 * @param quick holds only 10 of each, too few for figures that mean anything
 * @throws AssertionError if the variants do not offer the same
 */
export async function measureHeapCase({ name, open }: HeapCase, quick: boolean): Promise<HeapMeasurement[]> {
  const { variants, close } = open();
  try {
    const expected = variants[0]?.sample();
    const measurements: HeapMeasurement[] = [];
    for (const variant of variants) {
      assert.deepEqual(
        variant.sample(),
        expected,
        `${variants[0]?.name} and ${variant.name} give different results in ${name}.`,
      );
    }
    for (const { name: variant, count, make } of variants) {
      for (let warm = 0; warm < 20; warm += 1) make();
      const held: unknown[] = [];
      const many = quick ? 10 : count;
      const { objects, bytes } = await heapOfEach(many, () => {
        while (held.length < many) held.push(make());
      });
      assert.equal(held.length, many);
      measurements.push({ name: variant, objects, bytes, ratio: bytes / (measurements[0]?.bytes ?? bytes) });
    }
    return measurements;
  } finally {
    await close();
  }
}

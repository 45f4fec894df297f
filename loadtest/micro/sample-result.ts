import type { ExecutionResult } from 'graphql';

/** Returns an execution result whose JSON has about `bytes` bytes. */
export function resultOf(bytes: number): ExecutionResult {
  const photos: object[] = [];
  const data = { property_update: { property_id: 'property-3', bedrooms: 4, is_new: true, photos } };
  for (let index = 0; JSON.stringify({ data }).length < bytes; index += 1) {
    photos.push({ photo_id: `photo-${index}`, is_cover: index === 0, caption: 'front – “West”' });
  }
  return { data };
}

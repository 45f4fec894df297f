/** Redis has lost messages of a topic, as their publisher tells. */
interface Loss {
  readonly topic: string;
  /** How long ago the last of them was acknowledged, at least: ms. Undefined: it is not told. */
  readonly ageMs: number | undefined;
}

/** @returns the topics in a message of the bus; none if it is not a list of them */
export function topicsIn(payload: Buffer | string): readonly string[] {
  return listIn(payload).filter((topic) => typeof topic === 'string');
}

/** Each topic with the age behind it. Pods of the version before take no note of ages. */
export function lossesText(losses: readonly Loss[]): string {
  return JSON.stringify(
    losses.flatMap(({ topic, ageMs }) => (ageMs === undefined ? [topic] : [topic, ageMs])),
  );
}

export function lossesIn(payload: Buffer | string): readonly Loss[] {
  return listIn(payload).flatMap((topic, index, list): Loss[] => {
    if (typeof topic !== 'string') return [];
    const age: unknown = list[index + 1];
    return [{ topic, ageMs: typeof age === 'number' ? age : undefined }];
  });
}

function listIn(payload: Buffer | string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(payload.toString());
    return Array.isArray(list) ? (list as readonly unknown[]) : [];
  } catch {
    return [];
  }
}

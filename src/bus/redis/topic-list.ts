/** The report of a publisher that Redis has lost messages of a topic. */
interface Loss {
  readonly topic: string;
  /** The least time since the last of them was acknowledged: ms. Undefined: not reported. */
  readonly ageMs: number | undefined;
}

/** @returns the topics in a message of the bus; none if it is not a list of them */
export function topicsIn(payload: Buffer | string): readonly string[] {
  return listIn(payload).filter((topic) => typeof topic === 'string');
}

/** Writes each topic, followed by its age. Pods of the previous version ignore ages. */
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

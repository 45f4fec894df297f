/**
 * The text that goes with each commit of a position. Pods of the version before know no more than the first three words: a text
 * with fields says nothing to them, so that they go on at its position. A field's name and value hold no spaces and no `=`.
 */
export interface PositionText {
  /** Names the topic that the position belongs to. Undefined: brokers before 2.8 have none. */
  readonly topicId: string | undefined;
  /** How many of the topic's partitions are settled: see StartPositions. */
  readonly settled: number;
  /** The id of the bus that the pod publishes to. Undefined: of a pod that knows none. */
  readonly bus: string | undefined;
}

const TEXT = /^sluice1 (?<id>\S+) (?<settled>\d+)(?<fields>(?: [a-z]+=[^\s=]+)*)$/;
const NO_ID = '-';

/** @returns undefined if the text is not of a pod, or of a later version that writes in another way */
export function readPositionText(text: string | null): PositionText | undefined {
  const { id = NO_ID, settled, fields = '' } = TEXT.exec(text ?? '')?.groups ?? {};
  if (settled === undefined) return undefined;
  const bus = / bus=(?<bus>\S+)/.exec(fields)?.groups?.['bus'];
  return { topicId: id === NO_ID ? undefined : id, settled: Number(settled), bus };
}

export function writePositionText({ topicId = NO_ID, settled, bus }: PositionText): string {
  return `sluice1 ${topicId} ${settled}${bus === undefined ? '' : ` bus=${bus}`}`;
}

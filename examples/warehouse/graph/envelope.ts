import type { KafkaMessage } from 'sluice';

/** A row of the table `stock`, as the database has it. */
interface Row {
  readonly product_id: number;
  readonly warehouse_id: string;
  readonly aisle: string;
  readonly shelf: number;
  readonly quantity: number;
  readonly quality: string;
}

/** What Debezium writes for a change: `op` is c(reate), u(pdate), d(elete) or r(ead), of a first snapshot. */
interface Envelope {
  readonly payload: {
    readonly op: 'c' | 'u' | 'd' | 'r';
    readonly before: Row | null;
    readonly after: Row | null;
    readonly ts_ms: number;
  };
}

/** The event of a change: the row as it is now, or for one that is deleted as it was, with nothing in it. */
export function stockOf({ value }: Pick<KafkaMessage, 'value'>) {
  const { op, before, after, ts_ms } = (JSON.parse(value.toString()) as Envelope).payload;
  // A snapshot tells of no change.
  if (op === 'r') return null;
  const row = after ?? before;
  if (row === null) throw new Error(`expected a row before or after ${op}, got none`);
  const { product_id, warehouse_id, aisle, shelf, quantity, quality } = row;
  return {
    product_id,
    place: { warehouse_id, aisle, shelf },
    quantity: op === 'd' ? 0 : quantity,
    quality,
    changed_at: ts_ms,
  };
}

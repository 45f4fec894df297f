import type { Message } from '../../../src/events/message.ts';
import type { Defect } from './defect.ts';
import { scripted } from './scripted.ts';

/** Defects that show when a partition's log loses its end, or the partition gets another leader. */
export const LOG_DEFECTS: Readonly<Record<string, Defect>> = {
  'pods know no leader epoch of a record': {
    received: (record) => ({ ...record, epoch: undefined }),
  },
  'records have the present leader epoch of their partition': {
    received: (record, presentEpoch) => ({ ...record, epoch: presentEpoch }),
  },
  'the hub tells records from repetitions by offset alone': {
    read: (payload) => {
      const { e: _, ...message } = JSON.parse(payload.toString()) as Message;
      return JSON.stringify(message);
    },
  },
  'histories tell records from repetitions by offset alone': scripted(
    'if resets > 0 and resets ~= otherResets then return resets > otherResets end',
    'if resets >= 0 then return offsetOf(one) > offsetOf(other) end',
  ),
};

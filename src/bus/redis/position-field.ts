import type { LogPosition } from '../../events/log-position.ts';

/**
 * A position as history scripts have it: `<offset>.<leader epoch>`, or the offset alone where no epoch is known. Pods of the
 * version before read a number that is neither below the offset nor as high as the next one, and write offsets alone.
 */
const FIELD = /^(?<offset>-?\d+)(?:\.(?<epoch>\d+))?$/;

/** In place of a position: before all others. */
export const NO_POSITION: LogPosition = { offset: -1, leaderEpoch: undefined };

export function writePosition({ offset, leaderEpoch }: LogPosition): string {
  return leaderEpoch === undefined ? `${offset}` : `${offset}.${leaderEpoch}`;
}

/** @param field null if there is none */
export function readPosition(field: string | null | undefined): LogPosition {
  const { offset, epoch } = FIELD.exec(field ?? '')?.groups ?? {};
  if (offset === undefined) return NO_POSITION;
  return { offset: Number(offset), leaderEpoch: epoch === undefined ? undefined : Number(epoch) };
}

/** Lua: `isAfter` does what the function of that name in TypeScript does. */
export const POSITIONS = `
local function offsetOf(position) return tonumber(string.match(position, '^%-?%d+')) end
local function epochOf(position) return tonumber(string.match(position, '%.(%d+)$') or '-1') end
local function isAfter(one, other)
  local epoch, otherEpoch = epochOf(one), epochOf(other)
  if epoch < 0 or otherEpoch < 0 or epoch == otherEpoch then return offsetOf(one) > offsetOf(other) end
  return epoch > otherEpoch
end
`;

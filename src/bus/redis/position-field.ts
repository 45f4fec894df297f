import { PER_RESET, type LogPosition } from '../../events/log-position.ts';

/**
 * A position in the format of history scripts: `<offset>.<epoch>`, or only the offset if no epoch is known. Pods of the
 * previous version read the field as a number, at least the offset and below the next one; they write only offsets.
 */
const FIELD = /^(?<offset>-?\d+)(?:\.(?<epoch>\d+))?$/;

/** Stands for no position, and is before all others. */
export const NO_POSITION: LogPosition = { offset: -1, epoch: undefined };

export function writePosition({ offset, epoch }: LogPosition): string {
  return epoch === undefined ? `${offset}` : `${offset}.${epoch}`;
}

/** @param field null if there is none */
export function readPosition(field: string | null | undefined): LogPosition {
  const { offset, epoch } = FIELD.exec(field ?? '')?.groups ?? {};
  if (offset === undefined) return NO_POSITION;
  return { offset: Number(offset), epoch: epoch === undefined ? undefined : Number(epoch) };
}

/** Lua: `isAfter` does what the function of that name in TypeScript does. */
export const POSITIONS = `
local function offsetOf(position) return tonumber(string.match(position, '^%-?%d+')) end
local function epochOf(position) return tonumber(string.match(position, '%.(%d+)$') or '-1') end
local function resetsOf(epoch) return epoch < 0 and 0 or math.floor(epoch / ${PER_RESET}) end
local function leaderEpochOf(epoch) return epoch < 0 and epoch or epoch % ${PER_RESET} end
local function isAfter(one, other)
  local epoch, otherEpoch = epochOf(one), epochOf(other)
  local resets, otherResets = resetsOf(epoch), resetsOf(otherEpoch)
  if resets > 0 and resets ~= otherResets then return resets > otherResets end
  epoch, otherEpoch = leaderEpochOf(epoch), leaderEpochOf(otherEpoch)
  if epoch < 0 or otherEpoch < 0 or epoch == otherEpoch then return offsetOf(one) > offsetOf(other) end
  return epoch > otherEpoch
end
`;

import { SLACK } from '../history.ts';

/**
 * Scripts that Redis runs as a whole, and nothing in between. All have the same first keys and arguments:
 *
 *     KEYS  1 the topic's state: a hash of epoch, seq, version, and the last offset by partition
 *           2 the topic's version, which changes with everything that any pod publishes for it
 *     ARGV  1 the next epoch, if there has to be one; 2 what names of lists begin with
 *
 * A list holds the messages of one channel in one epoch. Its first element says from which sequence on it is complete.
 * Where the version is not the one that was set by the last script, some pod has published without history: it is an
 * older one, or Redis took no writes. What it published is in no list, so the epoch ends.
 */
const BEGINNING = `
local state = redis.call('HMGET', KEYS[1], 'epoch', 'seq', 'version')
local epoch, seq = state[1], tonumber(state[2] or '0')
local version = redis.call('GET', KEYS[2])
local function publishes(version)
  redis.call('SET', KEYS[2], version)
  redis.call('HSET', KEYS[1], 'version', version)
end
local prefix = ARGV[2] .. (epoch or '') .. ':'
local function begin()
  epoch, seq = ARGV[1], 0
  prefix = ARGV[2] .. epoch .. ':'
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'epoch', epoch, 'seq', seq)
  publishes(version or epoch)
end
if not epoch or state[3] ~= version then begin() end
`;

/**
 * Which channels have a list, or a subscriber. ARGV: 3 the new version, 4… channels.
 *
 * What comes for the others is passed over. That takes a sequence: a list that is made later must not count as complete
 * from a position on that was given before.
 *
 * @returns 1 or 0 for each channel
 */
export const INTEREST = `${BEGINNING}
publishes(ARGV[3])
local reply, isPassedOver = {}, false
for index = 4, #ARGV do
  local isKept = redis.call('EXISTS', prefix .. ARGV[index]) == 1
  local isHeard = isKept or tonumber(redis.call('PUBSUB', 'NUMSUB', ARGV[index])[2]) > 0
  reply[#reply + 1] = isHeard and 1 or 0
  isPassedOver = isPassedOver or not isHeard
end
if isPassedOver then redis.call('HSET', KEYS[1], 'seq', string.format('%d', seq + 1)) end
return reply
`;

/**
 * Publishes events, and adds them to the lists of their channels; an event whose offset is not above the last one of its
 * partition has been before, and is left out. ARGV: 3 the new version, 4 elements that a list has at least, 5 for how
 * long a list is kept that there was none of before, in ms, or 0 if none is made, 6 where it is published that messages
 * are lost, and 7 what; 8 epoch in which this pod has been acknowledged offsets, 9 of how many partitions; for each of
 * these: partition with the topic's id, last offset; then how many events, and for each: partition with the topic's id,
 * offset or -1, payload without its opening brace, count of channels, channels.
 *
 * A state with lower offsets than were acknowledged is that of a server that has lost messages: its sequences have been
 * given before, so the epoch ends.
 *
 * Redis takes back nothing if the script fails midway, so the sequences of all are taken first, and none is given twice.
 * A script that is repeated publishes events again, as their offsets are noted at its end: pods find those by their
 * offsets.
 *
 * @returns how many were left out, and the epoch
 */
export const APPEND = `${BEGINNING}
local index = 10
for _ = 1, tonumber(ARGV[9]) do
  local held = tonumber(redis.call('HGET', KEYS[1], ARGV[index]) or '-1')
  if ARGV[8] == epoch and tonumber(ARGV[index + 1]) > held then
    begin()
    redis.call('PUBLISH', ARGV[6], ARGV[7])
  end
  index = index + 2
end
publishes(ARGV[3])
local size = tonumber(ARGV[4])
local most = math.floor(size * ${SLACK})
local ttl = tonumber(ARGV[5])
local offsets, dropped = {}, 0
redis.call('HSET', KEYS[1], 'seq', string.format('%d', seq + tonumber(ARGV[index])))
index = index + 1
while index <= #ARGV do
  local partition, offset, count = ARGV[index], tonumber(ARGV[index + 1]), tonumber(ARGV[index + 3])
  local last = offsets[partition] or tonumber(redis.call('HGET', KEYS[1], partition) or '-1')
  if offset >= 0 and offset <= last then
    dropped = dropped + 1
  else
    seq = seq + 1
    local message = '{"h":["' .. epoch .. '",' .. string.format('%d', seq) .. '],' .. ARGV[index + 2]
    for at = index + 4, index + 3 + count do
      local length = redis.call(ttl > 0 and 'RPUSH' or 'RPUSHX', prefix .. ARGV[at], message)
      if ttl > 0 then redis.call('PEXPIRE', prefix .. ARGV[at], ttl) end
      if length > most then redis.call('LTRIM', prefix .. ARGV[at], -size, -1) end
      redis.call('PUBLISH', ARGV[at], message)
    end
    if offset >= 0 then offsets[partition] = offset end
  end
  index = index + 4 + count
end
for partition, offset in pairs(offsets) do redis.call('HSET', KEYS[1], partition, offset) end
return { dropped, epoch }
`;

/**
 * Keeps channels for some time from now on. ARGV: 3 that time in ms, 4 that for those without a message, 5 the sequence
 * behind which they are to be read, or -1 if they are not, 6 and 7 epoch and sequence of the last message that this pod has
 * heard, 8… channels. Redis does nothing else meanwhile, so once it has read two thousand elements, the other channels are
 * neither read nor kept.
 *
 * A server that ends before what was heard has lost messages: it would give their sequences again, so the epoch ends.
 *
 * While Redis has no memory to spare, pods publish without it taking note: nothing is read then, so a write that takes
 * memory comes first.
 *
 * @returns epoch, sequence, and for each channel that is read the first element of its list, then those behind the
 *   sequence in order, among which the first may be once more
 */
export const JOIN = `${BEGINNING}
if ARGV[6] == epoch and tonumber(ARGV[7]) > seq then begin() end
local since = tonumber(ARGV[5])
if since >= 0 then redis.call('HSET', KEYS[1], 'seq', string.format('%d', seq)) end
local function behind(list)
  local last, newest = -1, {}
  repeat
    local some = redis.call('LRANGE', list, last - 31, last)
    for at = #some, 1, -1 do
      local sequence = tonumber(string.match(some[at], '^{"h":%["%w+",(%d+)'))
      if sequence <= since then some = {} break end
      newest[#newest + 1] = some[at]
    end
    last = last - 32
  until #some < 32
  local elements = { redis.call('LINDEX', list, 0) }
  for at = #newest, 1, -1 do elements[#elements + 1] = newest[at] end
  return elements
end
local reply, count = { epoch, seq }, 0
for index = 8, #ARGV do
  if count >= 2000 then break end
  local list = prefix .. ARGV[index]
  local first = redis.call('LINDEX', list, 0)
  if not first then
    redis.call('RPUSH', list, '{"h":["' .. epoch .. '",' .. string.format('%d', seq) .. ']}')
  end
  local isEmpty = not first or (string.match(first, '^{"h":%["%w+",%d+%]}$') and not redis.call('LINDEX', list, 1))
  redis.call('PEXPIRE', list, isEmpty and ARGV[4] or ARGV[3])
  if since >= 0 then
    local elements = behind(list)
    count = count + #elements
    reply[#reply + 1] = elements
  end
end
return reply
`;

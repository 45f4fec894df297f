import { DELETED_OF_GENERATION } from '../../events/deletion.ts';
import { BRANCH_SEQUENCES, BYTES_PER_MESSAGE, SLACK } from '../history.ts';
import { POSITIONS } from './position-field.ts';

/** Bytes read in one call: Redis does nothing else meanwhile, and a reply is parsed in one turn of the event loop. */
const BYTES_PER_CALL = 1024 * 1024;

/** A new branch is up to so many further on. The replication id decides, so that two successors of one server get different ones. */
const BRANCHES_PER_STEP = 1_024;

/** Beyond it, sequences would soon be no safe integers any more: the epoch ends. */
const LAST_BRANCH = 2 ** 52;

/** Lua: `sharded` changes the value for a cluster, which moves slots from node to node. */
export const KEYS_MAY_MOVE = 'local keysMayMove = false';

/**
 * The beginning of scripts, which Redis runs atomically. All have the same first keys and arguments:
 *
 *     KEYS  1 the topic's state: a hash of epoch, seq, version, the server's replication id, the last sequence of each branch
 *             but the present one, and the last position by partition
 *           2 the topic's version, which changes with everything that any pod publishes for it
 *     ARGV  1 the next epoch, if there has to be one; 2 what names of lists begin with
 *
 * A list holds the messages of one channel in one epoch. Its first element says from which sequence on it is complete. If
 * the version is not the one that the last script set, some pod has published without history: it is an older pod, or Redis
 * accepted no writes. Those messages are in no list, so the epoch ends.
 *
 * Beside the lists there are hashes of deleted keys, with the sequences of their deletions in this epoch, one hash for each
 * generation. The last two are kept, for as long as any list. `deleted` is the number of keys noted, `removed` the sequence
 * of the last deletion. Deletions up to `forgotten` may be in neither hash. Pods of the previous version renew only lists,
 * and Redis may evict a hash: then all deletions are forgotten.
 */
const BEGINNING = `
local state = redis.call('HMGET', KEYS[1], 'epoch', 'seq', 'version', 'deleted', 'server')
local epoch, seq = state[1], tonumber(state[2] or '0')
local noted = tonumber(state[4] or '0')
local before = state[5]
local replication = redis.pcall('INFO', 'replication')
local server = type(replication) == 'string' and string.match(replication, 'master_replid:(%w+)')
local version = redis.call('GET', KEYS[2])
local function publishes(version)
  redis.call('SET', KEYS[2], version)
  redis.call('HSET', KEYS[1], 'version', version)
end
local prefix = ARGV[2] .. (epoch or '') .. ':'
local function begin()
  epoch, seq, noted, before = ARGV[1], 0, 0, server
  prefix = ARGV[2] .. epoch .. ':'
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'epoch', epoch, 'seq', seq)
  if server then redis.call('HSET', KEYS[1], 'server', server) end
  publishes(version or epoch)
end
if not epoch or state[3] ~= version then begin() end
local function branchOf(sequence) return string.format('branch:%d', math.floor(sequence / ${BRANCH_SEQUENCES})) end
if server and not before then
  redis.pcall('HSET', KEYS[1], 'server', server)
elseif server and server ~= before then
  local step = 1 + tonumber(string.sub(server, 1, 3), 16) % ${BRANCHES_PER_STEP}
  local start = (math.floor(seq / ${BRANCH_SEQUENCES}) + step) * ${BRANCH_SEQUENCES}
  if start > ${LAST_BRANCH} then begin() else
    local text, last = string.format('%d', start), string.format('%d', seq)
    local reply = redis.pcall('HSET', KEYS[1], 'server', server, 'seq', text, branchOf(seq), last)
    if type(reply) == 'number' then seq = start end
  end
end
local function endOfBranch(sequence)
  if branchOf(sequence) == branchOf(seq) then return '-1' end
  return redis.call('HGET', KEYS[1], branchOf(sequence)) or '0'
end
local function deletedIn(generation)
  return KEYS[1] .. '@deleted:' .. epoch .. ':' .. string.format('%d', generation)
end
local function renewDeleted(ms)
  if noted == 0 then return end
  local last = math.floor((noted - 1) / ${DELETED_OF_GENERATION})
  for generation = last > 0 and last - 1 or 0, last do
    if redis.call('PEXPIRE', deletedIn(generation), ms) == 0 then
      noted = 0
      redis.call('HSET', KEYS[1], 'forgotten', string.format('%d', seq), 'deleted', 0)
      return
    end
  end
end
local function delete(key)
  local generation = math.floor(noted / ${DELETED_OF_GENERATION})
  if noted % ${DELETED_OF_GENERATION} == 0 then
    if generation > 1 then
      redis.call('HSET', KEYS[1], 'forgotten', redis.call('HGET', KEYS[1], 'begun'))
      redis.call('DEL', deletedIn(generation - 2))
    end
    redis.call('HSET', KEYS[1], 'begun', string.format('%d', seq))
  end
  noted = noted + redis.call('HSET', deletedIn(generation), key, string.format('%d', seq))
  redis.call('HSET', KEYS[1], 'deleted', noted, 'removed', string.format('%d', seq))
end
`;

/** In place of an epoch: see APPEND. */
export const ANY_EPOCH = '*';

/** How long Redis remembers that a pod has passed something over: ms. Longer than a pod asks about it. */
const PASSED_OVER_MS = 120_000;

/**
 * Finds which channels have a list or a subscriber. ARGV: 3 the new version, 4 the key that holds the number of the last
 * question after which this pod passed something over, 5 the number of this question, 6… channels.
 *
 * Events for the other channels are passed over. That takes a sequence: a list that is made later must not count as
 * complete from a position that was given before. A server without the number has not been asked: if a former master still
 * runs beside it, pods may listen here to events that were passed over there.
 *
 * @returns 1 or 0 for each channel
 */
export const INTEREST = `${BEGINNING}
publishes(ARGV[3])
local reply, isPassedOver = {}, false
for index = 6, #ARGV do
  local isKept = redis.call('EXISTS', prefix .. ARGV[index]) == 1
  local isHeard = isKept or tonumber(redis.call('PUBSUB', 'NUMSUB', ARGV[index])[2]) > 0
  reply[#reply + 1] = isHeard and 1 or 0
  isPassedOver = isPassedOver or not isHeard
end
if isPassedOver then
  redis.call('HSET', KEYS[1], 'seq', string.format('%d', seq + 1))
  redis.call('SET', ARGV[4], ARGV[5])
  redis.call('PEXPIRE', ARGV[4], ${PASSED_OVER_MS})
end
return reply
`;

/**
 * Publishes events, and adds them to the lists of their channels. It leaves out an event whose position is not after the
 * last one of its partition: that event was published before. ARGV: 3 the new version, 4 the least number of elements to
 * keep in a list, 5 how long a new list is kept, in ms, or below 0 to make none, 6 the channel for reports of lost
 * messages, and 7 the report; 8 the epoch that the pod knows, or * for any, 9 the number of partitions of the events, and
 * for each: partition with the topic's id, last position that was acknowledged to the pod in that epoch; then the number of
 * events, and for each: partition with the topic's id, position or -1, payload without its opening brace, number of
 * channels, channels. An event without channels deletes a key, whose hash is in place of the payload.
 *
 * If the state has an earlier position than was acknowledged, the server has lost messages: it would give the same
 * sequences again, so the epoch ends.
 *
 * In an epoch that the pod does not know, nothing is published: a new epoch has no positions yet, so it could not recognise
 * a late script whose partitions other pods have taken over.
 *
 * Redis does not roll back a script that fails midway, so the script first takes the sequences of all events, and none is
 * given twice. A repeated script publishes events again, as it notes positions at its end; pods recognise those events by
 * their positions. But a client that has read them from a list would get them again. So in a cluster, where slots move key
 * by key, the script first accesses all keys that it will use: it fails if one is on another node.
 *
 * @returns the number of events left out, or -1 if nothing was published in this epoch; the epoch; and, if they were
 *   published, the sequence behind these events
 */
export const APPEND = `${BEGINNING}${POSITIONS}local index = 10
for _ = 1, tonumber(ARGV[9]) do
  local held = redis.call('HGET', KEYS[1], ARGV[index]) or '-1'
  if ARGV[8] == epoch and isAfter(ARGV[index + 1], held) then
    begin()
    redis.call('PUBLISH', ARGV[6], ARGV[7])
  end
  index = index + 2
end
${KEYS_MAY_MOVE}
if keysMayMove then
  local at, deletions = index + 1, 0
  while at <= #ARGV do
    local count = tonumber(ARGV[at + 3])
    if count == 0 then deletions = deletions + 1 end
    for channel = at + 4, at + 3 + count do redis.call('EXISTS', prefix .. ARGV[channel]) end
    at = at + 4 + count
  end
  local first = math.max(0, math.floor((noted - 1) / ${DELETED_OF_GENERATION}) - 1)
  local last = math.floor((noted + deletions - 1) / ${DELETED_OF_GENERATION})
  for generation = first, last do redis.call('EXISTS', deletedIn(generation)) end
end
publishes(ARGV[3])
if ARGV[8] ~= epoch and ARGV[8] ~= '${ANY_EPOCH}' then return { -1, epoch } end
local size = tonumber(ARGV[4])
local most = math.floor(size * ${SLACK})
local ttl = tonumber(ARGV[5])
local renewal = ttl < 0 and -ttl or ttl
renewDeleted(renewal)
local positions, dropped = {}, 0
redis.call('HSET', KEYS[1], 'seq', string.format('%d', seq + tonumber(ARGV[index])))
index = index + 1
while index <= #ARGV do
  local partition, position, count = ARGV[index], ARGV[index + 1], tonumber(ARGV[index + 3])
  local last = positions[partition] or redis.call('HGET', KEYS[1], partition) or '-1'
  if position ~= '-1' and not isAfter(position, last) then
    dropped = dropped + 1
  else
    seq = seq + 1
    if count == 0 then delete(ARGV[index + 2]) end
    local message = '{"h":["' .. epoch .. '",' .. string.format('%d', seq) .. '],' .. ARGV[index + 2]
    for at = index + 4, index + 3 + count do
      local length = redis.call(ttl > 0 and 'RPUSH' or 'RPUSHX', prefix .. ARGV[at], message)
      if ttl > 0 then redis.call('PEXPIRE', prefix .. ARGV[at], ttl) end
      if length > most then redis.call('LTRIM', prefix .. ARGV[at], -size, -1) end
      redis.call('PUBLISH', ARGV[at], message)
    end
    if position ~= '-1' then positions[partition] = position end
  end
  index = index + 4 + count
end
renewDeleted(renewal)
for partition, position in pairs(positions) do redis.call('HSET', KEYS[1], partition, position) end
return { dropped, epoch, seq }
`;

/**
 * Keeps channels for some time from now on, and reads their lists from the end. ARGV: 3 that time in ms, 4 the time for
 * channels without a message, 5 the sequence after which lists are read, or -1 to read none, 6 and 7 epoch and sequence of
 * the last message that this pod has heard, 8 the most messages to read of a channel, 9 the most bytes of all messages
 * together; 10 and 11, if a part of the first channel was read before: sequence of the earliest of these messages, and
 * their number; 12… channels. Redis does nothing else meanwhile, so after a MiB or two thousand messages, the script reads
 * and keeps no more: another call goes on.
 *
 * If this pod has heard a later message than the last one that the server has, in the present branch or in a former one, the
 * server has lost messages, so the epoch ends.
 *
 * While Redis has no memory to spare, pods publish without history. Then nothing must be read, so the script begins with a
 * write that needs memory.
 *
 * @returns epoch, sequence, the bytes of the messages, the end of the branch of argument 5 (-1 for the present one, 0 for
 *   one that this server has nothing of), and for each channel that is read: the sequence after which its list
 *   is complete, then messages, the last one first. In place of that sequence: -1 if there are more messages than wanted,
 *   -2 if another call must go on with the channel, -3 if the next message exceeds the bytes
 */
export const JOIN = `${BEGINNING}
local heard = tonumber(ARGV[7])
local heardUntil = tonumber(endOfBranch(heard))
if ARGV[6] == epoch and (heard > seq or (heardUntil >= 0 and heard > heardUntil)) then begin() end
local since, most, room = tonumber(ARGV[5]), tonumber(ARGV[8]), tonumber(ARGV[9])
local earliest, taken = tonumber(ARGV[10]), tonumber(ARGV[11])
if since >= 0 then redis.call('HSET', KEYS[1], 'seq', string.format('%d', seq)) end
local count, bytes = 0, 0
local function isMark(element) return string.match(element, '^{"h":%["%w+",%d+%]}$') end
local function sequenceOf(element) return tonumber(string.match(element, '^{"h":%["%w+",(%d+)')) end
local function beginning(list)
  local first = redis.call('LINDEX', list, 0)
  return isMark(first) and sequenceOf(first) or sequenceOf(first) - 1
end
local function newest(list)
  local elements, last, step, from = { -1 }, -1 - taken, 1, nil
  while not from do
    local some, length = redis.call('LRANGE', list, last - step + 1, last), 0
    for at = #some, 1, -1 do
      local element = some[at]
      local sequence = sequenceOf(element)
      length = length + #element
      if sequence <= since then
        from = beginning(list)
      elseif sequence < earliest then
        if taken >= most and not isMark(element) then from = -1
        elseif bytes + #element + ${BYTES_PER_MESSAGE} > room then from = -3
        elseif bytes >= ${BYTES_PER_CALL} or count >= 2000 then from = -2
        else
          elements[#elements + 1] = element
          bytes = bytes + #element + ${BYTES_PER_MESSAGE}
          taken = taken + 1
          count = count + 1
        end
      end
      if from then break end
    end
    if not from and #some < step then from = beginning(list) end
    last = last - step
    if length > 65536 then step = 1 elseif step < 32 then step = step * 2 end
  end
  elements[1] = from
  return elements
end
local reply = { epoch, seq, 0, tonumber(since >= 0 and endOfBranch(since) or '-1') }
renewDeleted(ARGV[3])
for index = 12, #ARGV do
  if bytes >= ${BYTES_PER_CALL} or count >= 2000 then break end
  local list = prefix .. ARGV[index]
  local first = redis.call('LINDEX', list, 0)
  local isEmpty = not first or (isMark(first) and redis.call('LINDEX', list, -1) == first)
  if not first then
    redis.call('RPUSH', list, '{"h":["' .. epoch .. '",' .. string.format('%d', seq) .. ']}')
  end
  redis.call('PEXPIRE', list, isEmpty and ARGV[4] or ARGV[3])
  if since >= 0 then
    local elements = newest(list)
    reply[#reply + 1] = elements
    if elements[1] < -1 then break end
    earliest, taken = ${Number.MAX_SAFE_INTEGER}, 0
  end
end
reply[3] = bytes
return reply
`;

-- Appends one namespace's batch to one partition, or writes nothing. Pass one validates, pass two writes: a script does
-- not roll back, so nothing that can fail stands behind the first write (which is the first XADD: a server that is out
-- of memory, read-only or unable to write its AOF refuses it, and with it the whole batch).
--
-- KEYS  1 log stream · 2 meta hash · 3 namespaces hash · 4 erased set; the dedup buckets are named from ARGV 5 and share
--       the keys' hash tag, hence their slot.
-- ARGV  1 partitions · 2 namespace · 3 expected version (any | none | some | a number) · 4 guard's fingerprint or ''
--       5 prefix of the dedup buckets · 6 number of events n · 7 number of evidence pairs m · 8 fingerprints to erase, joined
--       then n times: fingerprint · marks · header · sealed body · digest
--         marks: 'o' or '-' (orders recorded time) · 'r' or '-' (raw event) · recorded_at or nothing
--       then m times: index of the event (from 0) · fingerprint of its evidence
-- A fingerprint has 16 bytes. Times are microseconds, exact in Lua's doubles up to 2^53.
--
-- Replies: {'OK', first seq, its appended_at} · {'DROPPED'} · {'KNOWN', seq | 0 unknown | -1 erased, ...} ·
--   {'VERSION', last seq} · {'ERASED', event index, ...} · {'BEHIND', event index, earliest} · {'FUTURE', event index} ·
--   {'PARTITIONS', as the log was created} · {'DAMAGED'}

local log, meta, spaces, erased = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local namespace, expected, guard, prefix = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local count, pairs_count, erases = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
local HEAD, STRIDE, CHUNK, BUCKETS_HIGH = 8, 5, 1000, 32
local call, byte = redis.call, string.byte

local function whole(number)
  return string.format('%.0f', number)
end

local function bucket(fingerprint)
  local high, low = byte(fingerprint, 1, 2)
  return prefix .. ((high % BUCKETS_HIGH) * 256 + low)
end

-- Which of the fingerprints are erased, as a list of 0 and 1.
local function erased_among(fingerprints)
  local found = {}
  for start = 1, #fingerprints, CHUNK do
    local part = call('SMISMEMBER', erased, unpack(fingerprints, start, math.min(start + CHUNK - 1, #fingerprints)))
    for i = 1, #part do
      found[start + i - 1] = part[i]
    end
  end
  return found
end

-- Pass one.
local state = call('HMGET', meta, 'seq', 'at', 'partitions')
if state[3] and state[3] ~= ARGV[1] then
  return {'PARTITIONS', tonumber(state[3])}
end
if guard ~= '' and call('HEXISTS', bucket(guard), guard) == 1 then
  return {'DROPPED'}
end

local any_erased = call('EXISTS', erased) == 1
local gone = {}
if any_erased then
  local own = {}
  for i = 1, count do
    own[i] = ARGV[HEAD + (i - 1) * STRIDE + 1]
  end
  gone = erased_among(own)
end
local buckets, known, any_known = {}, {'KNOWN'}, false
for i = 1, count do
  local fingerprint = ARGV[HEAD + (i - 1) * STRIDE + 1]
  buckets[i] = bucket(fingerprint)
  local seq = call('HGET', buckets[i], fingerprint)
  if gone[i] == 1 then
    known[i + 1], any_known = -1, true
  elseif seq then
    known[i + 1], any_known = tonumber(seq), true
  else
    known[i + 1] = 0
  end
end
if any_known then
  return known
end

local last_seq, raw_seq, last_recorded = '0', '0', nil
local row = call('HGET', spaces, namespace)
if row then
  last_seq, raw_seq, last_recorded = string.match(row, '^(%d+) (%d+) (%-?%d*)$')
  last_recorded = tonumber(last_recorded)
end
if (expected == 'none' and last_seq ~= '0') or (expected == 'some' and last_seq == '0')
    or (tonumber(expected) and expected ~= last_seq) then
  return {'VERSION', tonumber(last_seq)}
end

local evidence = HEAD + count * STRIDE
if any_erased and pairs_count > 0 then
  local needed, refused, seen = {}, {'ERASED'}, {}
  for j = 1, pairs_count do
    needed[j] = ARGV[evidence + j * 2]
  end
  for j, is_gone in ipairs(erased_among(needed)) do
    local index = tonumber(ARGV[evidence + j * 2 - 1])
    if is_gone == 1 and not seen[index] then
      seen[index] = true
      refused[#refused + 1] = index
    end
  end
  if #refused > 1 then
    return refused
  end
end

local time = call('TIME')
-- A microsecond apart, so that events which were not imported are never recorded at one and the same time.
local now = math.max(tonumber(time[1]) * 1000000 + tonumber(time[2]), tonumber(state[2] or '0') + 1)
local seq = tonumber(state[1] or '0')
local recorded = {}
for i = 1, count do
  local marks = ARGV[HEAD + (i - 1) * STRIDE + 2]
  local at = now + i - 1
  if #marks > 2 then
    recorded[i] = string.sub(marks, 3)
    at = tonumber(recorded[i])
    if at > now + i - 1 then
      return {'FUTURE', i - 1}
    end
  end
  if byte(marks, 1) == 111 then
    if last_recorded and at < last_recorded then
      return {'BEHIND', i - 1, whole(last_recorded)}
    end
    last_recorded = at
  end
  last_seq = whole(seq + i)
  if byte(marks, 2) == 114 then
    raw_seq = last_seq
  end
end

-- Pass two.
for i = 1, count do
  local appended = whole(now + i - 1)
  local base = HEAD + (i - 1) * STRIDE
  local place = whole(seq + i)
  local added
  if recorded[i] then
    added = redis.pcall('XADD', log, place .. '-0', 'h', ARGV[base + 3], 'b', ARGV[base + 4], 'd', ARGV[base + 5],
      't', appended, 'r', recorded[i])
  else
    added = redis.pcall('XADD', log, place .. '-0', 'h', ARGV[base + 3], 'b', ARGV[base + 4], 'd', ARGV[base + 5],
      't', appended)
  end
  if type(added) == 'table' and added.err then
    if string.find(added.err, 'equal or smaller', 1, true) then
      return {'DAMAGED'}
    end
    return added
  end
  call('HSET', buckets[i], ARGV[base + 1], place)
end
call('HSET', spaces, namespace, last_seq .. ' ' .. raw_seq .. ' ' .. (last_recorded and whole(last_recorded) or ''))
call('HSET', meta, 'seq', whole(seq + count), 'at', whole(now + count - 1), 'partitions', ARGV[1])
for start = 1, #erases, 16 * CHUNK do
  local part = {}
  for at = start, math.min(start + 16 * CHUNK - 1, #erases), 16 do
    part[#part + 1] = string.sub(erases, at, at + 15)
  end
  call('SADD', erased, unpack(part))
end
return {'OK', seq + 1, whole(now)}

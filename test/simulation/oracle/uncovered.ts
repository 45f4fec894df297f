import type { Attempt, LedgerEvent } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import type { Receiver, RedisServers } from './receiver.ts';

/** A pod tells what Redis has lost within this time: its reply timeout, and the time that others are given. */
const TELLING_MS = 15_000;

/** A replica may lack what was written so long before it became the master. */
const LONGEST_LAG_MS = 3_000;

/** Whether the promises do not cover that this subscriber gets this event. Each of them is a limit of the gateway. */
export function isUncovered(world: World, subscriber: Receiver, event: LedgerEvent): boolean {
  return (
    isGone(subscriber) ||
    isLostUnconsumed(world, event) ||
    isPassedOver(world, event) ||
    isTakenAway(world, event) ||
    startedAtItsEnd(world, event) ||
    isLostWithItsPublisher(world, subscriber, event) ||
    isBehindALostBranch(world, event) ||
    isBehindAFormerMaster(world, subscriber, event)
  );
}

/** The subscriber left, or its pod ended, perhaps before it could be told: its client connects elsewhere, and fetches anew. */
function isGone({ endedAt }: Receiver): boolean {
  return endedAt !== undefined;
}

/** Its topic was deleted, or its log has lost its end, before the group had consumed it. */
function isLostUnconsumed({ ledger }: World, { number }: LedgerEvent): boolean {
  return ledger.unconsumed.has(number);
}

/** A pod of another bus has consumed it, which had found the group empty: all members had gone for longer than a session. */
function isTakenAway({ ledger }: World, { number }: LedgerEvent): boolean {
  return ledger.takenAway.has(number);
}

/** Its log had lost its end, which was filled again before a client noticed that does not name leader epochs. */
function isPassedOver({ kafka }: World, { topicId, partition, offset, leaderEpoch }: LedgerEvent): boolean {
  return kafka.passedOver.some(
    (passed) =>
      passed.topicId === topicId &&
      passed.partition === partition &&
      passed.records.some((record) => record.offset === offset && record.leaderEpoch === leaderEpoch),
  );
}

/**
 * Its topic was made anew, and one of the pods that joined since had never known the former one: with that Kafka has deleted
 * the group's positions, so that the group looks like a new one, which starts at the end.
 */
function startedAtItsEnd({ ledger }: World, { topic, topicId, at }: LedgerEvent): boolean {
  if (![...ledger.deleted].some((id) => id !== topicId && id.startsWith(`${topic}-`))) return false;
  return ledger.looks.some(
    (look) =>
      look.topicId === topicId &&
      look.at >= at &&
      !ledger.looks.some(
        (one) => one.pod === look.pod && one.topic === topic && one.topicId !== topicId && one.at < look.at,
      ),
  );
}

/**
 * Redis lost what it had acknowledged: a message, or the version that went with the question who listens. The pod to which it
 * was acknowledged would have told so, and ended before it could.
 */
function isLostWithItsPublisher(
  { ledger, pods }: World,
  { group }: Receiver,
  { number, at: producedAt }: LedgerEvent,
): boolean {
  const attempts = ledger.attempts.get(number) ?? [];
  const acknowledged = attempts.filter((attempt) => attempt.acknowledged);
  const passedOver = ledger.passedOver.filter(
    ({ channel, at }) => at >= producedAt && group?.plan.channels.includes(channel) === true,
  );
  return [...acknowledged, ...(attempts.length === 0 ? passedOver : [])].some(({ pod, at }) => {
    const publisher = pods.find(({ name }) => name === pod);
    const endedAt = publisher?.endedAt ?? Infinity;
    return ledger.losses.some((loss) => loss.at >= at && loss.at > endedAt - TELLING_MS);
  });
}

/**
 * Of a topic with history: the former master had given sequences that the new one gave again, to other events. A pod that
 * had heard the former ones finds that Redis holds as much as it has heard, and a client that its cursor has been reached.
 */
function isBehindALostBranch(world: World, event: LedgerEvent): boolean {
  return formerMasters(world, event).length > 0;
}

/** Masters that went on giving sequences of the event's topic as another one was there, and whose branch of it was lost. */
function formerMasters({ ledger, plan }: World, { number, topic, at }: LedgerEvent): string[] {
  if (plan.histories[topic] === undefined) return [];
  const own = ledger.attempts.get(number) ?? [];
  const attempts = [...ledger.attempts].flatMap(([other, some]) =>
    ledger.events[other - 1]?.topic === topic ? some : [],
  );
  return ledger.losses.flatMap(({ at: lostAt, failover }) => {
    if (failover === undefined) return [];
    const { formerMaster } = failover;
    const [from, to] = [failover.at - LONGEST_LAG_MS, lostAt + TELLING_MS];
    const isWithin = (time: number): boolean => time > from && time <= to;
    const isOfTwo =
      (isWithin(at) || own.some((attempt) => isWithin(attempt.at))) &&
      attempts.some(
        ({ servers, at: began, endedAt, acknowledged }) =>
          // One that was under way as the replica fell behind is not there, either.
          servers.includes(formerMaster) && (isWithin(began) || (acknowledged && isWithin(endedAt))),
      );
    return isOfTwo ? [formerMaster] : [];
  });
}

const isToNext =
  (formerMaster: string) =>
  ({ servers, acknowledged }: Attempt): boolean =>
    acknowledged && !servers.includes(formerMaster);

/**
 * Of a topic with history: its pod listened to a former master, and went on to hear of the new one what came later, since the former
 * one had become a replica of it. Such a pod tells as soon as it finds that, and ended before it could.
 */
function isBehindAFormerMaster(
  { ledger, pods, plan }: World,
  { deliveries }: Receiver,
  { number, topic, at }: LedgerEvent,
): boolean {
  if (plan.histories[topic] === undefined) return false;
  const attempts = ledger.attempts.get(number) ?? [];
  return ledger.losses.some(({ at: replicaAt, failover }) => {
    if (failover === undefined || at < failover.at - LONGEST_LAG_MS || at > replicaAt) return false;
    const { formerMaster } = failover;
    return (
      attempts.some(isToNext(formerMaster)) &&
      deliveries.some(({ number: later, servers: { listening }, pod }) => {
        const endedAt = pods.find(({ name }) => name === pod)?.endedAt ?? Infinity;
        const isOfNext =
          later > number &&
          ledger.events[later - 1]?.topic === topic &&
          (ledger.attempts.get(later) ?? []).some(isToNext(formerMaster));
        return isOfNext && listening.includes(formerMaster) && endedAt <= replicaAt + TELLING_MS;
      })
    );
  });
}

/**
 * Its publisher had not been acknowledged it, and has published it again, where Redis did not know it any more: it has lost
 * or evicted that, or had no memory for it, or the topic has no history. A pod knows what it has heard itself; a client that had it from another one, or
 * from what was kept, gets it again, and has been told that events may be missing.
 */
export function mayComeAgain(world: World, { told }: Receiver, event: LedgerEvent): boolean {
  const { ledger, plan } = world;
  const { number, topic, at } = event;
  const attempts = ledger.attempts.get(number) ?? [];
  // An attempt that was under way may reach Redis after it has evicted that.
  const isEvicted = ledger.evictions.some(
    (eviction) => eviction.topic === topic && attempts.slice(1).some(({ endedAt }) => endedAt >= eviction.at),
  );
  if (isEvicted || isUnnoted(world, event)) return true;
  // A pod that hears the former master still has what the new one, of which the client has been told, lacks.
  if (isBehindALostBranch(world, event) && told.some((telling) => telling.at >= at)) return true;
  const lost = [...ledger.losses, ...ledger.forgotten.filter((forgotten) => forgotten.topic === topic)];
  const isForgotten = plan.histories[topic] === undefined || lost.some((loss) => loss.at >= at);
  return attempts.length > 1 && isForgotten && told.some((telling) => telling.at >= at);
}

/**
 * While two masters go on, a client that had a later event from a pod of one resumes at a pod of the other, by a cursor that both
 * have given: it gets the event behind that, and is told, at once or when the pods notice that there are two.
 *
 * @param pods servers of the pod by which the client had the later event, and of the one by which it then had this one
 */
export function mayComeLate(
  world: World,
  { told }: Receiver,
  event: LedgerEvent,
  [before, then]: readonly [RedisServers, RedisServers],
): boolean {
  if (!told.some(({ at }) => at >= event.at)) return false;
  return formerMasters(world, event).some((master) => {
    const isListening = then.listening.includes(master);
    // A pod that reads from one server and listens to the other is at fault itself.
    return (
      before.listening.includes(master) !== isListening && then.commands.includes(master) === isListening
    );
  });
}

/**
 * A right was taken from the pods while they ran, or a pod took part that knows no history: a script may have failed behind
 * what it has kept; and what a pod publishes, or passes over, without history ends the epoch, and its positions with it.
 */
function isUnnoted({ ledger, plan }: World, { number, topic }: LedgerEvent): boolean {
  if (plan.histories[topic] === undefined) return false;
  const own = ledger.attempts.get(number) ?? [];
  const ofTopic = [...ledger.attempts].flatMap(([other, attempts]) =>
    ledger.events[other - 1]?.topic === topic ? attempts : [],
  );
  const asked = ledger.passedOver.filter((one) => one.topic === topic);
  return ledger.unnoted.some(({ from, to }) => {
    const isWithin = ({ at }: { readonly at: number }): boolean => at >= from && at <= to;
    if (own.some(isWithin)) return true;
    const isRepeated = own.some(({ at }) => at < from) && own.some(({ at }) => at > to);
    return isRepeated && (ofTopic.some(isWithin) || asked.some(isWithin));
  });
}

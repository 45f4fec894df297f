import type { Attempt, LedgerEvent } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import type { Receiver, RedisServers } from './receiver.ts';

/** A pod tells within this time what Redis has lost: its reply timeout, plus the time that it gives other pods. */
const TELLING_MS = 15_000;

/** A replica that becomes the master may lack the writes of this time. */
const LONGEST_LAG_MS = 3_000;

/** Whether the promises do not cover that this subscriber gets this event. Each case is a limit of the gateway. */
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

/** The subscriber left, or its pod ended, perhaps untold: its client connects elsewhere, and fetches anew. */
function isGone({ endedAt }: Receiver): boolean {
  return endedAt !== undefined;
}

/** The event was lost before the group had consumed it: with its topic, or with the end of its log. */
function isLostUnconsumed({ ledger }: World, { number }: LedgerEvent): boolean {
  return ledger.unconsumed.has(number);
}

/** A pod of another bus has consumed the event: it had found the group empty, all of whose sessions had ended. */
function isTakenAway({ ledger }: World, { number }: LedgerEvent): boolean {
  return ledger.takenAway.has(number);
}

/** The event's log had lost its end, and was filled again before a client without leader epochs noticed the loss. */
function isPassedOver({ kafka }: World, { topicId, partition, offset, leaderEpoch }: LedgerEvent): boolean {
  return kafka.passedOver.some(
    (passed) =>
      passed.topicId === topicId &&
      passed.partition === partition &&
      passed.records.some((record) => record.offset === offset && record.leaderEpoch === leaderEpoch),
  );
}

/**
 * The event's topic was made anew, and a pod that joined later had never known the former topic. Kafka has deleted the
 * group's positions with the former topic, so that the group looks like a new one, which starts at the end.
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
 * Redis lost an acknowledged message, or the version that a question for listeners had noted. The pod that got the
 * acknowledgement would have told of the loss, and ended before.
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
 * For topics with a history: the former master gave sequences to events, and the new master gave them to other events.
 * A pod that heard the former ones finds that Redis holds as much as it heard, and a client finds its cursor reached.
 */
function isBehindALostBranch(world: World, event: LedgerEvent): boolean {
  return formerMasters(world, event).length > 0;
}

/** Returns masters that still gave sequences of the event's topic beside a new master, and whose branch was lost. */
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
          // A publication that was under way as the replica fell behind is missing, too.
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
 * For topics with a history: the pod listened to a former master, which became a replica of the new one, so that the
 * pod heard later events. Such a pod tells as soon as it finds this, and ended before.
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
 * The publisher got no acknowledgement, and published the event again, when Redis did not know it any more: Redis had
 * lost or evicted it, or had no memory, or the topic has no history. A pod knows the events that it has heard itself. A
 * client that had the event from another pod or the history gets it again, and was told that events may be missing.
 */
export function mayComeAgain(world: World, { told }: Receiver, event: LedgerEvent): boolean {
  const { ledger, plan } = world;
  const { number, topic, at } = event;
  const attempts = ledger.attempts.get(number) ?? [];
  // An attempt that was under way may reach Redis after the eviction.
  const isEvicted = ledger.evictions.some(
    (eviction) => eviction.topic === topic && attempts.slice(1).some(({ endedAt }) => endedAt >= eviction.at),
  );
  if (isEvicted || isUnnoted(world, event)) return true;
  // A pod that hears the former master still has events that the new one lacks, of which the client has been told.
  if (isBehindALostBranch(world, event) && told.some((telling) => telling.at >= at)) return true;
  const lost = [...ledger.losses, ...ledger.forgotten.filter((forgotten) => forgotten.topic === topic)];
  const isForgotten = plan.histories[topic] === undefined || lost.some((loss) => loss.at >= at);
  return attempts.length > 1 && isForgotten && told.some((telling) => telling.at >= at);
}

/**
 * With two masters, a client that had a later event from a pod of one resumes at a pod of the other, by a cursor that
 * both masters have given. It gets the event behind the later one, and is told at once, or when pods notice both.
 *
 * @param pods servers of the pod that brought the later event, and of the pod that then brought this one
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
    // A pod that reads from one server and listens to the other has a fault of its own.
    return (
      before.listening.includes(master) !== isListening && then.commands.includes(master) === isListening
    );
  });
}

/**
 * Pods lost a right while they ran, or a pod without histories took part. A script may have failed after it kept an
 * event; and an event that a pod publishes or passes over without history ends the epoch, and its positions with it.
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

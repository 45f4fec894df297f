/**
 * The measured sources. `heap`: live objects after a full garbage collection. `memory`: heap and buffers, garbage
 * included. `resident`: the process's part of the machine's memory, freed memory that the C library keeps included.
 * `waiting`: bytes copied for one socket each. `loop`: how late the event loop comes to its timers.
 */
export const SOURCES = ['heap', 'memory', 'resident', 'waiting', 'loop'] as const;

export type Source = (typeof SOURCES)[number];

/** The share of its limit that each source uses. At 1 the limit is reached. */
export type Sample = Readonly<Record<Source, number>>;

/** 0: none. From 1 on new connections are refused, from 2 on nothing is consumed, at 3 sockets are shed. */
export type Level = 0 | 1 | 2 | 3;

/** The shares from which on the levels 1, 2 and 3 hold. */
export type Thresholds = readonly [refuse: number, pause: number, shed: number];

export interface PressureState {
  readonly level: Level;
  /** Samples in a row for which a lower level would do. */
  readonly calm: number;
  /** Samples since the pause began. The count goes on while the level is 2 or 3, though the pause may be over. */
  readonly paused: number;
}

export const SAMPLE_MS = 250;

export const CALM_STATE: PressureState = { level: 0, calm: 0, paused: 0 };

/** A level holds until its source has fallen this far below the threshold of the level. */
const MARGIN = 0.05;

/** After this many calm samples, 2 seconds, the level goes down by one. */
const CALM_SAMPLES = 8;

/** If a pause has not helped for this many samples, 5 seconds, sockets are shed too. */
const PAUSE_ALONE = 20;

/** 30 seconds: other pods' subscribers wait for the events of paused partitions too. */
const LONGEST_PAUSE = 120;

/**
 * Fewer new connections relieve a slow event loop; to pause partitions would delay their events for all pods, and the
 * sockets for which most bytes wait do not keep the loop busy. Resident memory is only shown: the C library may keep
 * freed memory for ever, to hand it out again, so a pod would never be ready again.
 */
const HIGHEST: Readonly<Record<Source, Level>> = { heap: 3, memory: 3, waiting: 3, resident: 0, loop: 1 };

/** The state after one more sample. The level rises at once as far as the fullest source says, and falls by steps. */
export function afterSample(state: PressureState, sample: Sample, thresholds: Thresholds): PressureState {
  const wanted = levelOf(sample, thresholds, 0);
  const kept = levelOf(sample, thresholds, MARGIN);
  const isInVain = state.level === 2 && kept >= 2 && state.paused >= PAUSE_ALONE;
  const raised = isInVain ? 3 : wanted;
  if (raised > state.level) return at(raised, 0, state);
  // Level 3 holds until the pause can end too, since shed sockets make room for the events consumed afterwards.
  const isCalm = state.level === 3 ? kept < 2 : kept < state.level;
  const calm = isCalm ? state.calm + 1 : 0;
  return calm < CALM_SAMPLES ? at(state.level, calm, state) : at((state.level - 1) as Level, 0, state);
}

/** Whether nothing is consumed: from level 2 on, until the pause has lasted for so long that it does not help. */
export function pauses({ level, paused }: PressureState): boolean {
  return level >= 2 && paused <= LONGEST_PAUSE;
}

/**
 * Whether sockets are to be shed, given a sample taken right after a full garbage collection: at level 3, until the
 * pause can end. If the pause has been in vain, there must be room for two margins: with one, the garbage of the next
 * seconds would restart each count of calm samples, and the pause would last although a collection always ends in calm.
 */
export function sheds({ level, paused }: PressureState, sample: Sample, thresholds: Thresholds): boolean {
  const margin = paused > PAUSE_ALONE ? 2 * MARGIN : MARGIN;
  return level === 3 && levelOf(sample, thresholds, margin) >= 2;
}

/** The sources that a collection reduces. A collection makes a slow event loop slower. */
const COLLECTED = ['heap', 'memory', 'waiting'] as const;

/** Whether a full garbage collection may relieve the pressure; always before sockets are shed. */
export function collects(state: PressureState, sample: Sample, thresholds: Thresholds): boolean {
  return sheds(state, sample, thresholds) || COLLECTED.some((source) => sample[source] >= thresholds[0]);
}

/** Whether so much has been added since the last collection that the next one may find sockets to shed. */
export function hasGrown({ level }: PressureState, sample: Sample, collected: Sample): boolean {
  return level === 3 && COLLECTED.some((source) => sample[source] - collected[source] >= MARGIN);
}

/** The source that uses the largest share of its limit, among those that can raise a level so high. */
export function fullest(sample: Sample, level: Level): Source {
  return SOURCES.filter((source) => HIGHEST[source] >= Math.max(1, level)).reduce((most, source) =>
    sample[source] > sample[most] ? source : most,
  );
}

function levelOf(sample: Sample, thresholds: Thresholds, margin: number): Level {
  const levels = SOURCES.map((source) => {
    const reached = thresholds.filter((threshold) => sample[source] >= threshold - margin).length;
    return Math.min(reached, HIGHEST[source]);
  });
  return Math.max(...levels) as Level;
}

function at(level: Level, calm: number, { paused }: PressureState): PressureState {
  return { level, calm, paused: level >= 2 ? paused + 1 : 0 };
}

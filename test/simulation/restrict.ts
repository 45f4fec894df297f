import type { Plan } from './faults/plan.ts';

/** Which parts of a plan are kept, by number; undefined: all. */
export interface Selection {
  readonly faults?: readonly number[] | undefined;
  readonly events?: readonly number[] | undefined;
  readonly subscriptions?: readonly number[] | undefined;
  readonly clients?: readonly number[] | undefined;
  readonly pods?: number | undefined;
}

/** A plan without some of its parts: the others stay as they are. */
export function restrict(plan: Plan, { faults, events, subscriptions, clients, pods }: Selection): Plan {
  return {
    ...plan,
    pods: pods ?? plan.pods,
    faults: kept(plan.faults, faults),
    events: kept(plan.events, events),
    subscriptions: kept(plan.subscriptions, subscriptions),
    clients: kept(plan.clients, clients),
  };
}

function kept<T>(all: readonly T[], numbers: readonly number[] | undefined): readonly T[] {
  return numbers === undefined ? all : all.filter((_, number) => numbers.includes(number));
}

/** Numbers as the command line has them: `0,3-5`. An empty list is `none`. */
export function formatNumbers(numbers: readonly number[]): string {
  const parts: string[] = [];
  for (let index = 0; index < numbers.length; index += 1) {
    const first = numbers[index] ?? 0;
    let last = first;
    while (numbers[index + 1] === last + 1) {
      last += 1;
      index += 1;
    }
    parts.push(first === last ? String(first) : `${first}-${last}`);
  }
  return parts.length === 0 ? 'none' : parts.join();
}

/** @throws Error for anything but `none` or a list such as `0,3-5` */
export function parseNumbers(text: string): number[] {
  if (text === 'none') return [];
  return text.split(',').flatMap((part) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    if (first === undefined || last === undefined) {
      throw new Error(`expected numbers such as 0,3-5, got ${text}`);
    }
    const length = Number(last) - Number(first) + 1;
    return Array.from({ length }, (_, index) => Number(first) + index);
  });
}

import type { Plan } from './faults/plan.ts';

/** The parts of a plan that are lists, in the order in which they are shrunk. */
const LISTS = ['faults', 'subscriptions', 'clients', 'tombstones', 'events'] as const;

/** The numbers of the elements that are kept of each list; undefined: all are kept. */
export type Selection = { readonly [List in (typeof LISTS)[number]]?: readonly number[] } & {
  readonly pods?: number;
};

/** Returns a plan with only the selected elements, which stay as they are. */
export function restrict(plan: Plan, { pods = plan.pods, ...selection }: Selection): Plan {
  const lists = LISTS.map((list) => {
    const numbers = selection[list];
    return [list, plan[list].filter((_, number) => numbers?.includes(number) ?? true)];
  });
  return { ...plan, pods, ...(Object.fromEntries(lists) as Pick<Plan, (typeof LISTS)[number]>) };
}

/** Enough runs for plans of the usual size; otherwise the plan stays larger than necessary. */
const MOST_RUNS = 150;

/**
 * Leaves out elements of a plan that its violation does not need.
 *
 * @param fails runs a plan, and says whether it still has a violation
 */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Selection> {
  let runs = 0;
  let kept: Selection = {};
  const attempt = async (smaller: Selection): Promise<boolean> => {
    if (runs >= MOST_RUNS) return false;
    runs += 1;
    if (!(await fails(restrict(plan, smaller)))) return false;
    kept = smaller;
    return true;
  };
  if (plan.pods > 2) await attempt({ ...kept, pods: 2 });
  for (const list of LISTS) {
    let numbers = [...plan[list].keys()];
    for (let size = Math.ceil(numbers.length / 2); size >= 1; size = Math.floor(size / 2)) {
      for (let from = 0; from < numbers.length;) {
        const fewer = numbers.toSpliced(from, size);
        if (await attempt({ ...kept, [list]: fewer })) numbers = fewer;
        else from += size;
      }
    }
  }
  return kept;
}

import assert from 'node:assert/strict';
import test from 'node:test';
import { Random } from '../../helpers/random.ts';
import { FakeSubscriber, operation, setUp, settled } from './parts.ts';

type Person = { readonly id: number; readonly role: string };

class Member extends FakeSubscriber {
  declare viewer: Person;

  get said(): unknown[] {
    return this.results.map((result) => (result as { data: { said: string } }).data.said);
  }
}

type Seen = { readonly n: number; readonly slow: boolean };

/** Executions of slow events wait at gates, before and after they read the role, and after the id. */
function setUpGates(concurrency = 100) {
  const gates: (() => void)[] = [];
  const gate = (): Promise<void> => new Promise((resolve) => gates.push(resolve));
  const parts = setUp({
    maxWaiting: 1_000,
    concurrency,
    execute: ({ n, slow }: Seen, _variables, { viewer }) => {
      if (!slow) return { data: { said: `${n} ${String(viewer['role'])}` } };
      return (async () => {
        // Half of them read the role within the turn of the event.
        if (n % 2 === 0) await gate();
        const role = String(viewer['role']);
        await gate();
        const said = role === 'admin' ? `${n} ${role} ${String(viewer['id'])}` : `${n} ${role}`;
        await gate();
        return { data: { said } };
      })();
    },
  });
  const bid = operation([]);
  const join = (viewer: Person): Member => new Member(viewer).join(parts.hub, bid);
  let offset = 0;
  const send = (slow: boolean): number => {
    offset += 1;
    parts.bus.carry('bids', offset, { n: offset, slow });
    return offset;
  };
  /** Opens one gate, the oldest or any. */
  const open = (index = 0): void => gates.splice(index, 1)[0]?.();
  const drain = async (): Promise<void> => {
    for (await settled(); gates.length > 0; await settled()) open();
  };
  return { ...parts, join, send, open, drain, gates };
}

/** What a member of that viewer gets of an event. */
function expected(n: number, slow: boolean, { id, role }: Person): string {
  return slow && role === 'admin' ? `${n} ${role} ${id}` : `${n} ${role}`;
}

test('a viewer that is replaced between events is executed for as the new one, with those who share its values', async () => {
  const { join, send, value } = setUpGates();
  const [ann, bob] = [join({ id: 1, role: 'guest' }), join({ id: 2, role: 'admin' })];
  send(false);
  ann.become({ id: 1, role: 'admin' });
  send(false);
  assert.deepEqual(ann.said, ['1 guest', '2 admin']);
  assert.deepEqual(bob.said, ['1 admin', '2 admin']);
  assert.equal(await value('executions'), 3);
});

test('when viewers, subscriptions and connections change while events are under way, each subscriber gets each event once, in order, as its viewer was when the event came', async () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = Random.of(seed, 'viewer changes');
    // A small number has executions wait for a place, so that they begin after a viewer was replaced.
    const { join, send, open, drain, gates } = setUpGates(random.pick([1, 2, 100]));
    const person = (id: number): Person => ({ id, role: random.pick(['guest', 'agent', 'admin']) });
    let count = 0;
    const add = () => ({ member: join(person((count += 1))), due: [] as string[], left: false });
    const members = Array.from({ length: 4 }, add);
    for (let step = 0; step < 60; step += 1) {
      const one = random.pick(members);
      const draw = random.next();
      if (draw < 0.3) {
        const slow = random.chance(0.7);
        const n = send(slow);
        for (const { left, due, member } of members) if (!left) due.push(expected(n, slow, member.viewer));
      } else if (draw < 0.55) {
        one.member.become(person(one.member.viewer.id));
      } else if (draw < 0.58) {
        if (one.left || members.filter(({ left }) => !left).length < 2) continue;
        one.left = true;
        one.member.leave();
        // It gets no more than it has had.
        one.due.length = one.member.said.length;
      } else if (draw < 0.63) {
        members.push(add());
      } else {
        if (gates.length > 0) open(random.between(0, gates.length - 1));
        await settled();
      }
    }
    await drain();
    for (const [index, { member, due }] of members.entries())
      assert.deepEqual(member.said, due, `seed ${seed}, subscriber ${index + 1}`);
  }
});

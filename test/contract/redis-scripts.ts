import assert from 'node:assert/strict';
import test, { type TestOptions } from 'node:test';
import type { Command, Reply } from '../../src/bus/redis/connection.ts';
import { isNotPermitted, isNotWritable, isReadOnly } from '../../src/bus/redis/refusals.ts';
import { eventually } from '../helpers/eventually.ts';
import type { Inbox } from '../helpers/inbox.ts';
import { upTo } from '../helpers/numbers.ts';
import { Watched } from '../helpers/watched-connection.ts';
import { inboxOf, type MakeRedis } from './redis-connection.ts';

interface UnderTest {
  readonly run: (...command: Command) => Promise<Reply>;
  readonly evaluate: (script: string, keys?: readonly string[], args?: readonly string[]) => Promise<Reply>;
  /** What comes on the channel `news`. */
  readonly inbox: Inbox;
}

/** What Redis must do with scripts, and with the commands that those of histories use, be it real or simulated. */
export function testRedisScripts(name: string, options: TestOptions, make: MakeRedis): void {
  const it = (title: string, body: (redis: UnderTest) => Promise<void>): void => {
    test(`${name}: ${title}`, options, async (t) => {
      const redis = await make(t);
      const [commands, listening] = [redis.commands(), redis.listening()];
      const lives = [commands, listening].map((connection) => Watched.start(t, connection));
      await Promise.all(lives.map((life) => life.until('ready')));
      const inbox = await inboxOf(listening);
      const run: UnderTest['run'] = async (...command) => (await commands.send([command]))[0] as Reply;
      const evaluate: UnderTest['evaluate'] = (script, keys = [], args = []) =>
        run('EVAL', script, String(keys.length), ...keys, ...args);
      await body({ run, evaluate, inbox });
    });
  };

  it('what a script returns becomes a reply', async ({ evaluate }) => {
    const replies: [script: string, reply: unknown][] = [
      ["return 'text'", 'text'],
      ['return 7 / 2', 3],
      ['return true', 1],
      ['return false', null],
      ['return nil', null],
      ["return { 1, 'two', { 3, false }, nil, 5 }", [1, 'two', [3, null]]],
      ["return redis.call('SET', KEYS[1], ARGV[1])", 'OK'],
      ["return redis.call('GET', KEYS[1])", 'kept'],
    ];
    for (const [script, reply] of replies) {
      assert.deepEqual(valueIn(await evaluate(script, ['a'], ['kept'])), reply, script);
    }
  });

  it('a script reads what is not there as false, and lists as tables', async ({ evaluate }) => {
    const script = `
      local got, list = redis.call('GET', KEYS[1]), redis.call('HMGET', KEYS[1], 'x', 'y')
      return { tostring(got), #list, tostring(list[1]), tostring(list[3]) }`;
    assert.deepEqual(valueIn(await evaluate(script, ['missing'])), ['false', 2, 'false', 'nil']);
  });

  it('a script computes as Lua 5.1 does', async ({ evaluate }) => {
    const script = `
      local total, steps = 0, {}
      for number = 10, 1, -3 do total = total + number end
      for _, word in ipairs({ 'a', 'b' }) do steps[#steps + 1] = word .. total end
      repeat local left = total % 5; total = total - 1 until left == 0
      while true do total = total * 2 if total > 50 then break end end
      local function last(list) return list[#list] end
      return { steps, total, tonumber('12') + 1, math.floor(20 * 1.25), string.format('%d-%s', 3, 'x'),
        string.match('{"h":["e",42],', '^{"h":%["%w+",(%d+)'), last({ 1, 2, nil or 'z' }), not nil and 'yes' or 'no' }`;
    const steps = ['a22', 'b22'];
    assert.deepEqual(valueIn(await evaluate(script)), [steps, 76, 13, 25, '3-x', '42', 'z', 'yes']);
  });

  it('lists keep their order, and are cut by places from either end', async ({ run }) => {
    const replies: [command: Command, reply: unknown][] = [
      [['RPUSHX', 'l', 'none'], 0],
      [['EXISTS', 'l'], 0],
      [['RPUSH', 'l', 'a', 'b', 'c', 'd'], 4],
      [['RPUSHX', 'l', 'e'], 5],
      [
        ['LRANGE', 'l', '-3', '-2'],
        ['c', 'd'],
      ],
      [
        ['LRANGE', 'l', '-40', '-4'],
        ['a', 'b'],
      ],
      [['LRANGE', 'l', '-40', '-33'], []],
      [['LTRIM', 'l', '-2', '-1'], 'OK'],
      [
        ['LRANGE', 'l', '0', '-1'],
        ['d', 'e'],
      ],
      [['LINDEX', 'l', '0'], 'd'],
      [['LINDEX', 'l', '9'], null],
      [['DEL', 'l'], 1],
    ];
    for (const [command, reply] of replies) {
      assert.deepEqual(valueIn(await run(...command)), reply, command.join(' '));
    }
  });

  it('hashes keep a text for each field', async ({ run }) => {
    assert.equal(valueIn(await run('HSET', 'h', 'a', '1', 'b', '2')), 2);
    assert.equal(valueIn(await run('HSET', 'h', 'b', '3')), 0);
    assert.deepEqual(valueIn(await run('HMGET', 'h', 'b', 'c')), ['3', null]);
    assert.equal(valueIn(await run('HGET', 'h', 'a')), '1');
    assert.match(errorIn(await run('RPUSH', 'h', 'x')), /^WRONGTYPE/);
  });

  it('a key expires when it is to', async ({ run }) => {
    assert.equal(valueIn(await run('PEXPIRE', 'l', '100')), 0);
    await run('RPUSH', 'l', 'a');
    assert.equal(valueIn(await run('PEXPIRE', 'l', '100')), 1);
    await eventually(async () => assert.equal(valueIn(await run('EXISTS', 'l')), 0));
    await run('RPUSH', 'l', 'b');
    assert.deepEqual(valueIn(await run('LRANGE', 'l', '0', '-1')), ['b']);
  });

  it('a script publishes in the order of its calls', async ({ evaluate, inbox }) => {
    const script = "for index = 1, 20 do redis.call('PUBLISH', 'news', index) end return #ARGV";
    assert.equal(valueIn(await evaluate(script, [], ['x'])), 1);
    assert.deepEqual(await inbox.until(20), upTo(20).map(String));
  });

  it('what a script has done before it fails stays done', async ({ run, evaluate, inbox }) => {
    const script = `
      redis.call('SET', 'done', 'yes')
      redis.call('PUBLISH', 'news', 'heard')
      redis.call('RPUSH', 'done', 'x')
      redis.call('SET', 'later', 'yes')`;
    assert.match(errorIn(await evaluate(script)), /WRONGTYPE/);
    assert.deepEqual(valueIn(await run('MGET', 'done', 'later')), ['yes', null]);
    assert.deepEqual(await inbox.until(1), ['heard']);
  });

  it('a script fails at a command that is not permitted', async ({ run, evaluate }) => {
    await run('ACL', 'SETUSER', 'default', '-rpush');
    const reply = errorIn(await evaluate("redis.call('SET', 'a', '1') redis.call('RPUSH', 'l', 'x')"));
    assert.ok(isNotPermitted(reply), reply);
    assert.equal(valueIn(await run('GET', 'a')), '1');
  });

  it('without memory a script fails at its first write, unless that frees some', async ({
    run,
    evaluate,
  }) => {
    await run('SET', 'old', '1');
    await run('CONFIG', 'SET', 'maxmemory', '1');
    const refused = errorIn(await evaluate("redis.call('HSET', 'h', 'a', '1')"));
    assert.ok(isNotWritable(refused), refused);
    assert.equal(
      valueIn(await evaluate("redis.call('DEL', 'old') return redis.call('HSET', 'h', 'a', '1')")),
      1,
    );
    await run('CONFIG', 'SET', 'maxmemory', '0');
  });

  it('a script that writes is refused by a replica', async ({ run, evaluate }) => {
    await run('REPLICAOF', '127.0.0.1', '1');
    const reply = errorIn(await evaluate("redis.call('SET', 'a', '1')"));
    await run('REPLICAOF', 'NO', 'ONE');
    assert.ok(isReadOnly(reply), reply);
    assert.equal(valueIn(await run('GET', 'a')), null);
  });
}

function valueIn(reply: Reply): unknown {
  if ('error' in reply) throw reply.error;
  return reply.value;
}

function errorIn(reply: Reply): string {
  assert.ok('error' in reply, 'expected an error, got a reply');
  return reply.error.message;
}

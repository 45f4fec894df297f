import assert from 'node:assert/strict';
import test from 'node:test';
import { isNotPermitted, isNotWritable } from '../../../../src/bus/redis/refusals.ts';

for (const [what, reason, isRefused] of [
  ['a command', "NOPERM User limited has no permissions to run the 'eval' command", true],
  [
    'a command in a script of Redis 7.0',
    "ERR The user executing the script can't run this command or subcommand script: 5d, on @user_script:20.",
    true,
  ],
  [
    'a key in a script of Redis 7.0',
    "ERR The user executing the script can't access at least one of the keys mentioned in the command script",
    true,
  ],
  [
    'a command in a script of later versions',
    "ERR ACL failure in script: User limited has no permissions to run the 'rpushx' command script: 5d",
    true,
  ],
  ['what a proxy does not have', "ERR unknown command 'EVAL', with args beginning with: …", true],
  ['what it has no time for', 'BUSY Redis is busy running a script.', false],
  ['what a replica does not do', "READONLY You can't write against a read only replica.", false],
  ['what it has no memory for', "OOM command not allowed when used memory > 'maxmemory'.", false],
  ['a faulty script', 'ERR user_script:3: Script attempted to access nonexistent global variable', false],
] as const) {
  test(`what Redis says of ${what} is ${isRefused ? 'a' : 'no'} lack of rights`, () => {
    assert.equal(isNotPermitted(reason), isRefused);
    assert.equal(isNotWritable(reason), reason.startsWith('OOM'));
  });
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isNotPermitted, isNotWritable } from '../../../../src/bus/redis/refusals.ts';

const NOT_PERMITTED = {
  'a command': "NOPERM User limited has no permissions to run the 'eval' command",
  'a command in a script of Redis 7.0':
    "ERR The user executing the script can't run this command or subcommand script: 5d, on @user_script:20.",
  'a key in a script of Redis 7.0':
    "ERR The user executing the script can't access at least one of the keys mentioned in the command script: 5d, on @user_script:2.",
  'a command in a script of later versions':
    "ERR ACL failure in script: User limited has no permissions to run the 'rpushx' command script: 5d, on @user_script:20.",
  'what a proxy does not have': "ERR unknown command 'EVAL', with args beginning with: …",
};

describe('isNotPermitted', () => {
  for (const [what, reason] of Object.entries(NOT_PERMITTED)) {
    it(`knows by what Redis says that it refuses ${what}`, () => {
      assert.equal(isNotPermitted(reason), true);
      assert.equal(isNotWritable(reason), false);
    });
  }

  it('does not take a fault or a state of Redis for a refusal', () => {
    for (const reason of [
      'BUSY Redis is busy running a script.',
      "READONLY You can't write against a read only replica.",
      "OOM command not allowed when used memory > 'maxmemory'.",
      'ERR user_script:3: Script attempted to access nonexistent global variable',
    ]) {
      assert.equal(isNotPermitted(reason), false, reason);
    }
  });
});

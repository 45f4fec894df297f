import assert from 'node:assert/strict';
import { loadConfig } from '../../../src/config/config.ts';
import { configWarnings } from '../../../src/config/warnings.ts';
import { SluiceError } from '../../../src/errors.ts';

/** What is wrong with these settings; nothing where they are taken. */
export function faultsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof SluiceError && error.code === 'BAD_SETTINGS');
    return error.message.split('\n  ').slice(1);
  }
}

/** These are the faults, and there is no other. @param faults as a whole, or by a pattern */
export function assertRefused(
  env: Record<string, string>,
  faults: string | RegExp | readonly (string | RegExp)[],
): void {
  const found = faultsOf(env);
  const expected = [faults].flat();
  assert.equal(found.length, expected.length, found.join('\n'));
  for (const [index, fault] of expected.entries()) {
    if (typeof fault === 'string') assert.equal(found[index], fault);
    else assert.match(found[index] ?? '', fault);
  }
}

export const warningsOf = (env: Record<string, string>): string[] => configWarnings(env, loadConfig(env));

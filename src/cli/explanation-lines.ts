import type { Compared } from '../events/compared.ts';
import type { ExplainedStep, SubscriptionExplanation } from '../explain/explanation.ts';
import type { MergedExplanation, Recording } from '../explain/merged.ts';
import { harmless } from './quoted.ts';

/** The printed lines that say why a connection did, or did not, get an event. */
export function explanationLines(explanation: MergedExplanation): string[] {
  const { connection, event, recordings, subscriptions } = explanation;
  const { topic, partition, offset } = event;
  const place = `${harmless(topic)} ${partition}/${offset}`;
  const without = connection === null ? [] : ['  it has no subscription'];
  return [
    connection === null ? place : `${place}, connection ${connection} of ${recordings[0]?.process}`,
    ...linesOfConsumed(explanation),
    ...(subscriptions.length === 0 ? without : subscriptions.flatMap(linesOfOne)),
  ];
}

/** The printed lines that say which events each process has recorded and kept. */
export function recordingLines(recordings: readonly Recording[]): string[] {
  return recordings.flatMap(({ process, since, until, events, kept: { consumed, arrived } }) => [
    `  (${process}: recorded since ${since}, until ${until} unless asked again; events: ${events})`,
    `  (${process}: of the last events it keeps ${consumed.events} consumed since ${consumed.since}, ` +
      `${arrived.events} that came since ${arrived.since})`,
  ]);
}

function linesOfConsumed({ consumed, consumedBy }: MergedExplanation): string[] {
  if (consumed === null) return ['  consumed by none of the processes asked, as far as they know'];
  return [`  consumed at ${consumed.at} by ${consumedBy}: ${consumed.outcome}`, ...linesOf(consumed.steps)];
}

function linesOfOne({ field, operation, variables, verdict, steps }: SubscriptionExplanation): string[] {
  const name = operation === null ? '' : ` of ${operation}`;
  const isBare = variables === null || Object.keys(variables).length === 0;
  const asked = isBare ? '' : ` ${JSON.stringify(variables)}`;
  return [`  ${harmless(`${field}${name}${asked}`)}: ${verdict}`, ...linesOf(steps)];
}

function linesOf(steps: readonly ExplainedStep[]): string[] {
  return steps.flatMap(({ step, text, compared = [] }) => [
    `    ${step}: ${harmless(text)}`,
    ...compared.map((one) => `      ${harmless(comparedText(one))}`),
  ]);
}

/** `amount.value gte $min (100): got 42, fails` */
function comparedText({ path, operator, operand, with: value, got, outcome }: Compared): string {
  const expected = operand === null ? value : `${operand} (${value})`;
  return `${path} ${operator} ${expected}: got ${got}, ${outcome}`;
}

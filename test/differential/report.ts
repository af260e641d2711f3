/**
 * Results as text for people and as JSON lines for logs. Pure.
 */
import type { Difference } from './compare.ts';
import { describeLateness, measureLateness } from './lateness.ts';
import type { PlayResult } from './play.ts';
import { boundsPassed, isDisagreement } from './play-all.ts';
import { describeStep } from './scenario.ts';
import { STEP_KINDS, type StepKind } from './step-kinds.ts';

const VALUE_CHARACTERS_MAX = 3000;

export function progressLine(result: PlayResult): string {
  const { scenario, stepsPlayed, durationMs } = result;
  const verdict = isDisagreement(result) ? `DISAGREE ${causesOf(result).join(', ')}` : 'agree';
  const seconds = (durationMs / 1000).toFixed(1);
  const notes = Object.entries(countNotes(result)).map(([reason, count]) => `${reason} ${count}`);
  const suffix = notes.length === 0 ? '' : ` (${notes.join(', ')})`;
  return `${scenario.title}: ${verdict}, ${stepsPlayed} steps, ${seconds} s${suffix}`;
}

/** Which comparisons and bounds caught it. */
export function causesOf({ differences, violations }: PlayResult): readonly string[] {
  const bounds = violations.filter((it) => it.side === 'rollcall').map((it) => it.bound);
  return [...new Set([...differences.map((it) => it.comparison), ...bounds])];
}

function countNotes({ notes, violations }: PlayResult): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  const add = (reason: string): void => {
    counts[reason] = (counts[reason] ?? 0) + 1;
  };
  for (const { reason } of notes) add(reason);
  for (const { side, bound } of violations) if (side === 'original') add(`original ${bound}`);
  return counts;
}

/** Everything about a disagreement: both sides, the steps, and how to see it again. */
export function describeDisagreement(result: PlayResult, replay: string): string {
  const { scenario, failedStep } = result;
  const steps = scenario.steps.map(
    (step, index) => `  ${index === failedStep ? '>' : ' '} ${index} ${describeStep(step)}`,
  );
  const notes = result.notes.map(
    ({ reason, step, detail }) => `  step ${step}: ${reason}: ${detail}`,
  );
  return [
    `${scenario.title}: disagreement after step ${failedStep ?? '(along the way)'}`,
    ...steps,
    ...result.differences.flatMap(describeDifference),
    ...boundsPassed(result).map((text) => `  bound passed: ${text}`),
    ...(notes.length === 0 ? [] : ['  notes:', ...notes]),
    ...(result.activity.length === 0 ? [] : ['  the engine:']),
    ...result.activity.map((text) => `  ${text.slice(0, VALUE_CHARACTERS_MAX)}`),
    `  replay: ${replay}`,
    '',
  ].join('\n');
}

function describeDifference(difference: Difference): readonly string[] {
  const text = (value: unknown): string => JSON.stringify(value).slice(0, VALUE_CHARACTERS_MAX);
  return [
    `  ${difference.comparison}: ${difference.subject}`,
    `    original ${text(difference.original)}`,
    `    rollcall ${text(difference.rollcall)}`,
  ];
}

export function logEntry(result: PlayResult): Readonly<Record<string, unknown>> {
  const { scenario, stepsPlayed, failedStep, durationMs } = result;
  return {
    title: scenario.title,
    agreed: !isDisagreement(result),
    stepsPlayed,
    durationMs: Math.round(durationMs),
    notes: countNotes(result),
    kinds: result.kinds,
    settlings: result.settlings,
    reasons: result.notes.filter(({ reason }) => reason !== 'no-op'),
    ...(isDisagreement(result)
      ? {
          failedStep,
          causes: causesOf(result),
          differences: result.differences,
          bounds: boundsPassed(result),
          steps: scenario.steps,
        }
      : {}),
  };
}

/** How often a step of each kind was applied in a run. */
export function sumKinds(results: readonly PlayResult[]): Readonly<Record<StepKind, number>> {
  const sums = STEP_KINDS.map((kind) => [
    kind,
    results.reduce((sum, { kinds }) => sum + kinds[kind], 0),
  ]);
  return Object.fromEntries(sums) as Readonly<Record<StepKind, number>>;
}

/** The closing table. */
export function summaryTable(results: readonly PlayResult[], elapsedMs: number): string {
  const disagreements = results.filter(isDisagreement);
  const totals: Record<string, number> = {};
  for (const result of results) {
    for (const [reason, count] of Object.entries(countNotes(result))) {
      totals[reason] = (totals[reason] ?? 0) + count;
    }
  }
  const stepsCount = results.reduce((sum, it) => sum + it.stepsPlayed, 0);
  const perMinute = (results.length / (elapsedMs / 60_000)).toFixed(1);
  return [
    `scenarios      ${results.length}`,
    `steps          ${stepsCount}`,
    `agree          ${results.length - disagreements.length}`,
    `disagree       ${disagreements.length}`,
    ...Object.entries(totals)
      .sort()
      .map(([reason, count]) => `  ${reason}: ${count}`),
    'applied',
    ...Object.entries(sumKinds(results)).map(([kind, count]) => `  ${kind}: ${count}`),
    ...describeLateness(measureLateness(results)),
    `minutes        ${(elapsedMs / 60_000).toFixed(1)} (${perMinute} scenarios a minute)`,
    '',
  ].join('\n');
}

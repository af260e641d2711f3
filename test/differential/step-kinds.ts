/**
 * Which of the kinds that were added on purpose a step brings into its scenario, so that they can be counted: as drawn
 * (test/unit/differential/generate.test.ts) and as applied (report.ts). Pure.
 */
import { LONG_READY_SECONDS } from './generate-kinds.ts';
import type { SetForm, Step } from './scenario.ts';

/** What is counted. */
export const STEP_KINDS = [
  'shared-selector',
  'match-fields-in',
  'match-fields-not-in',
  'greater-than',
  'less-than',
  'numeric-label',
  'node-name',
  'long-min-ready',
  'metadata-only',
  'server-side-apply',
  'writers-at-once',
] as const;

/** One of them. */
export type StepKind = (typeof STEP_KINDS)[number];

/** Kinds of operations that are one whatever they say. */
const KINDS_OF_OPERATIONS: Readonly<Partial<Record<Step['op'], readonly StepKind[]>>> = {
  'node-mark': ['metadata-only'],
  'pod-mark': ['metadata-only'],
  'set-mark': ['metadata-only'],
  'set-annotate': ['metadata-only'],
  'all-annotate': ['metadata-only'],
  'all-rewrite': ['metadata-only'],
  'set-apply': ['server-side-apply'],
  'set-writers': ['server-side-apply', 'writers-at-once'],
};

/** The kinds of a step; mostly none. */
function kindsOf(step: Step): readonly StepKind[] {
  if ('form' in step) return kindsOfForm(step.form);
  const isNumeric =
    (step.op === 'node-label' && step.key === 'cores') ||
    (step.op === 'node-join' && step.labels?.['cores'] !== undefined);
  return isNumeric ? ['numeric-label'] : (KINDS_OF_OPERATIONS[step.op] ?? []);
}

function kindsOfForm(form: SetForm): readonly StepKind[] {
  const { cores, fields, nodeName, selector, minReadySeconds } = form;
  const kinds: StepKind[] = [];
  if (selector === 'shared') kinds.push('shared-selector');
  if (cores) kinds.push(cores.operator === 'Gt' ? 'greater-than' : 'less-than');
  if (fields) kinds.push(fields.operator === 'In' ? 'match-fields-in' : 'match-fields-not-in');
  if (typeof nodeName === 'string') kinds.push('node-name');
  if (minReadySeconds === LONG_READY_SECONDS) kinds.push('long-min-ready');
  return kinds;
}

/** How often each kind occurs. */
export function countKinds(steps: readonly Step[]): Readonly<Record<StepKind, number>> {
  const found = steps.flatMap(kindsOf);
  const counts = STEP_KINDS.map((kind) => [kind, found.filter((it) => it === kind).length]);
  return Object.fromEntries(counts) as Readonly<Record<StepKind, number>>;
}

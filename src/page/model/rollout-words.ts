/** How a rollout is shown: the tone of its phase, its steps, and its evidence as a sentence. */
import type { RolloutPhase } from '../../core/rollout/gate-words.ts';
import type { RolloutStatus } from './documents.ts';

/** As a mark shows it. */
export type PhaseTone = 'failing' | 'waiting' | 'coming' | 'well' | 'unknown';

const TONES: Readonly<Record<RolloutPhase, PhaseTone>> = {
  Halted: 'failing',
  Invalid: 'failing',
  Stopped: 'unknown',
  Waiting: 'waiting',
  Paused: 'waiting',
  Frozen: 'waiting',
  Returned: 'waiting',
  Returning: 'coming',
  Progressing: 'coming',
  Done: 'well',
};

/** The tone of a phase; of a newer release's phase nothing is known. */
export function toneOfPhase(phase: RolloutPhase): PhaseTone {
  return (TONES as Readonly<Partial<Record<string, PhaseTone>>>)[phase] ?? 'unknown';
}

/** A step of a rollout. */
export interface ShownStep {
  readonly name: string;
  readonly state: 'passed' | 'open' | 'waits';
}

type Staged = NonNullable<RolloutStatus['staged']>;

/** The canary, then the groups after it. */
export function stepsOf({ step }: Pick<Staged, 'step'>): readonly ShownStep[] {
  const { kind, index, groups = Math.max(0, index), name } = step;
  const reached = kind === 'waiting' ? -1 : kind === 'done' ? Number.POSITIVE_INFINITY : index;
  return Array.from({ length: groups + 1 }, (_, place) => {
    const isNamed = kind === 'group' && place === index && name !== '';
    const ofGroup = isNamed ? `step ${String(place)} (${name})` : `step ${String(place)}`;
    const state = place < reached ? 'passed' : place === reached ? 'open' : 'waits';
    return { name: place === 0 ? 'canary' : ofGroup, state };
  });
}

/** What the evidence says now. */
export function evidenceText({ evidence }: Pick<Staged, 'evidence'>): string {
  const { eValue, haltsAt, isVoid, isWithoutControls, silence } = evidence;
  if (isVoid)
    return 'More nodes were bad than a trial remembers: it proves nothing until another rollout begins.';
  const value = `The evidence against the release is ${numberText(eValue)}; it halts at ${numberText(haltsAt)}.`;
  const controls = isWithoutControls
    ? ' A node failed where none was left to compare it with: that counts for nothing.'
    : '';
  const bound =
    silence === undefined
      ? ''
      : ` ${String(silence.nodes)} updated nodes without a failure tell, with 95 % certainty, that fewer than ${String(silence.sharePercentMax)} % would fail.`;
  return `${value}${controls}${bound}`;
}

function numberText(value: number): string {
  return value >= 100
    ? Math.round(value).toLocaleString('en')
    : String(Math.round(value * 10) / 10);
}

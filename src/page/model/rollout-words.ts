/** How a rollout is shown: the tone of its phase, its steps, and its evidence in the words of the command line. */
import { describeEvidence } from '../../core/rollout/shown-evidence.ts';
import type { RolloutPhase } from '../../core/rollout/gate-words.ts';
import type { FleetStatus, RolloutStatus } from './documents.ts';

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

/** Nodes with the release, of those that should have it. */
export function nodesText(nodes: FleetStatus['clusters'][number]['nodes']): string {
  return nodes === undefined ? 'not known' : `${String(nodes.updated)} of ${String(nodes.desired)}`;
}

/** Of a stage of a fleet its clusters, those that are well, roll, failed and wait, and its nodes; or the stage that counts them. */
export function cellsOfStage(stage: FleetStatus['stages'][number]): readonly string[] {
  const { goesOnIn, clusters, well, rolling, failed, waiting, nodes } = stage;
  if (goesOnIn !== undefined) return [`in ${goesOnIn}`, '', '', '', '', ''];
  const counts = [clusters, well, rolling, failed, waiting].map(String);
  return [...counts, clusters === 0 ? '–' : nodesText(nodes)];
}

/** What the evidence says, as `rollcall rollout status` does; failures stand in a table of their own. */
export function evidenceTexts({
  evidence,
  breach,
}: Pick<Staged, 'evidence' | 'breach'>): readonly string[] {
  const texts = describeEvidence({ ...evidence, failures: [] }, breach);
  if (texts.length > 0 || breach === undefined) return texts;
  const { cause, message } = breach;
  return [
    `${cause}: ${message}`,
    'Pods showed this themselves. No comparison of nodes was needed, and none speaks for the release.',
  ];
}

/** False where a halt has another cause than lost nodes, of which their counts say nothing. */
export function isByNodes({ evidence, breach }: Pick<Staged, 'evidence' | 'breach'>): boolean {
  return describeEvidence(evidence, breach).length > 0;
}

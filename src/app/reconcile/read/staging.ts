/**
 * What a staged rollout of a subject is planned under: its policy, how fresh the view is, and which history it shows (issue 17).
 *
 * Absent for a DaemonSet without the annotation, and where Rollcall only watches: then nothing of this is read or recorded.
 * While a status says that a rollout runs, the watcher tells of itself every half minute, so less is silence; else the
 * bound is that of any view.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { PodCause } from '../../../core/model/projections.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { FormerTemplate } from '../../../core/model/staged-progress.ts';
import type { StagingContext } from '../../../core/model/plan.ts';
import { readPolicyOf } from '../../../core/takeover/opt-in.ts';
import type { PolicyReader } from '../../../ports/rollout-policy.ts';
import type { Basis } from './read-basis.ts';

/** What it is told from. */
export interface StagingInput {
  readonly daemonSet: DaemonSetObject;
  readonly basis: Pick<Basis, 'meta' | 'registration'>;
  readonly nowMs: number;
  readonly policies: PolicyReader;
  readonly options: { readonly podsFreshMs: number; readonly silenceBoundMs: number };
  /** The template of the former revision, once it was read. */
  readonly former?: FormerTemplate;
  /** What Events tell of pods that never started. */
  readonly causes?: readonly PodCause[];
}

/** The context of its stages, if it asks for any. */
export function stagingOf(input: StagingInput): StagingContext | undefined {
  const { daemonSet, basis, policies, former, causes } = input;
  const { mode } = basis.registration;
  if (mode === 'observe') return undefined;
  const reading = readPolicyOf(daemonSet, policies);
  if (reading.kind === 'none') return undefined;
  const { era, epoch } = basis.meta;
  return {
    reading,
    mode,
    seenView: `${era}/${epoch}`,
    isViewFresh: isFresh(input),
    unheardMs: basis.meta.unheardMs ?? 0,
    ...defined({ former, causes }),
  };
}

function isFresh({ daemonSet, basis, nowMs, options }: StagingInput): boolean {
  const { updatedNumberScheduled = 0, desiredNumberScheduled = 0 } = daemonSet.status ?? {};
  const isRolling = updatedNumberScheduled < desiredNumberScheduled;
  const withinMs = isRolling ? options.podsFreshMs : options.silenceBoundMs;
  const { Node: nodesMs, Pod: podsMs } = basis.meta.heardAtMs;
  return [nodesMs, podsMs].every((heardMs) => heardMs !== undefined && nowMs - heardMs <= withinMs);
}

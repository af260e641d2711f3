/**
 * Moves pods from the hashes of duplicate revisions to that of the one which is kept (spec 2.10 step 5).
 *
 * The pods are listed live, by selector and hash: one that the view does not show yet would be taken
 * for an old one later, and restarted. Pods of others are not touched (S4). A pod that is not relabelled
 * keeps its duplicate revision alive: the next run goes on, also beyond the burst of one (S9). Deadline, freeze and mode are looked at again before
 * each further batch (protocol 7).
 *
 * Differs from upstream: only pods that carry a duplicate's hash are relabelled. Upstream relabels
 * every claimed pod that does not carry the kept one, those of really older templates too, which are
 * then never updated.
 */
import { counted } from '@rollcall/base/counted.ts';
import type { PatchEffect } from '../../../core/model/effects.ts';
import { newerVersion } from '../../../core/model/identifiers.ts';
import type { ResourceVersion } from '../../../core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { buildPodRelabel } from '../../../core/history/history-patches.ts';
import { REVISION_HASH_LABEL } from '../../../core/pod/pod-facts.ts';
import { revisionHashOf } from '../../../core/history/revisions.ts';
import { versionOf } from '../confirm/adopt-release.ts';
import { sendFenced } from '../confirm/batch-fence.ts';
import type { Step } from '../run/context.ts';
import { historyFailure, unreadable } from './history-result.ts';
import type { HistoryFailure, HistoryPause } from './history-result.ts';
import { selectorText } from '../live/selector-text.ts';

/** Patches sent side by side. */
const PATCHES_AT_ONCE = 50;

/** Every pod carries the kept hash now; `written` is the highest version that a patch returned. */
export type Relabelling =
  | { readonly kind: 'relabelled'; readonly written: ResourceVersion | undefined }
  | HistoryPause
  | HistoryFailure;

/** Relabels the pods of duplicates. */
export async function relabelPods(
  revisions: { readonly kept: KubernetesObject; readonly duplicates: readonly KubernetesObject[] },
  run: Step,
): Promise<Relabelling> {
  const { access, subject } = run;
  const { metadata, spec } = subject.daemonSet;
  const { namespace = '' } = metadata;
  const hash = revisionHashOf(revisions.kept);
  const former = new Set(revisions.duplicates.map(revisionHashOf));
  former.delete(hash);
  if (former.size === 0) return { kind: 'relabelled', written: undefined };
  const ofDuplicates = `${REVISION_HASH_LABEL} in (${[...former].sort().join(',')})`;
  const selector = `${selectorText(spec.selector)},${ofDuplicates}`;
  const listed = await access.listPodMetadata(namespace, selector);
  if (listed.kind === 'unavailable') return unreadable(listed);
  const pods = listed.kind === 'found' ? listed.object : [];
  const effects = pods
    .filter(({ ownerUid }) => ownerUid === metadata.uid)
    .map(({ name, uid }) => buildPodRelabel({ namespace, name, uid }, hash));
  const { burstPodsMax } = run.context.dependencies.options;
  const end = await sendRelabels(effects.slice(0, burstPodsMax), run);
  if (end.kind !== 'relabelled' || effects.length <= burstPodsMax) return end;
  const message = `${counted(effects.length - burstPodsMax, 'pod is', 'pods are')} left to be relabelled`;
  return { kind: 'look-again', message };
}

async function sendRelabels(effects: readonly PatchEffect[], run: Step): Promise<Relabelling> {
  const items = effects.map((effect) => ({ effect }));
  const { sent, stopped } = await sendFenced(
    items,
    { ...run, stateVersion: run.subject.state.version },
    { size: PATCHES_AT_ONCE, isLast: ({ kind }) => kind !== 'done' && kind !== 'gone' },
  );
  let written: ResourceVersion | undefined;
  for (const { item, outcome } of sent) {
    if (outcome.kind === 'done') written = newerVersion(written, versionOf(outcome));
    else if (outcome.kind !== 'gone') {
      return historyFailure(outcome, `pod ${item.effect.name} could not be relabelled`);
    }
  }
  return stopped === undefined ? { kind: 'relabelled', written } : { ...stopped, kind: 'failed' };
}

/**
 * The live DaemonSet, if it is what a run planned on (S7, S10, protocol 8): by content, never by version.
 *
 * An object may get a new version without its content changing, and no watcher reports that. Nor does an equal version say that
 * it is the same: a restored etcd gives versions out again (row 71). What is written carries the version of this read as its
 * precondition. Assumed: no etcd is restored, and gets as far as that version again, between this read and that write.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { ClusterReader, DaemonSetRead } from '../../../ports/cluster/cluster-access.ts';
import { pauseText } from '../../../core/status/status-writers.ts';
import { contradictsTemplate } from '../../../core/history/history-match.ts';
import { revisionData } from '../../../core/history/revisions.ts';
import { keyOf, type RunContext, type LoadedInput } from '../run/context.ts';
import type { DeferralCode } from '../run/result.ts';
import { compareResourceVersions, isResourceVersion } from '../../../core/model/identifiers.ts';
import { policyTextOf } from '../../../core/may-act/opt-in.ts';
import {
  isStoreDoubtful,
  isStoreRestored,
  seenOfDaemonSets,
} from '../../../core/view/freshness.ts';
import type { SeenOfStore } from '../../../core/view/freshness.ts';
import { noteForeignStatusWrite } from './rival.ts';

/** What there is instead of the planned one: none, another content, or no answer. */
export type PlannedMissing =
  | { readonly kind: 'gone' }
  | { readonly kind: 'conflict' }
  | {
      readonly kind: 'failed';
      readonly message: string;
      /** True if the API server said no, and did not just fail. */
      readonly isRefused?: boolean;
    };

interface PresentStep {
  readonly context: RunContext;
  readonly input: Pick<LoadedInput, 'stored'>;
  readonly access: ClusterReader;
}

interface PlannedStep extends PresentStep {
  readonly input: Pick<LoadedInput, 'stored' | 'daemonSet'>;
}

export type PresentRead =
  { readonly kind: 'found'; readonly object: DaemonSetObject } | PlannedMissing;

/** Reads the DaemonSet of a run live; `found` only if nothing that was planned on changed since it was seen. */
export async function readPlanned(step: PlannedStep): Promise<PresentRead> {
  const live = await readPresent(step);
  if (live.kind !== 'found' || isAsPlanned(live.object, step.input.daemonSet)) return live;
  return { kind: 'conflict' };
}

/** Reads the DaemonSet of a run live, whatever it looks like by now, unless etcd is behind the view. */
export async function readPresent(step: PlannedStep): Promise<PresentRead> {
  const { input } = step;
  const live = await readDaemonSetNow(step);
  if (live.kind === 'unavailable') return { kind: 'failed', message: live.message };
  if (live.kind === 'missing') return { kind: 'gone' };
  if (isOfLostHistory(live, input)) return { kind: 'conflict' };
  return live.object.metadata.uid === input.stored.ref.uid ? live : { kind: 'gone' };
}

/**
 * True if the one is the other, as far as plans go. Not all content is compared: API servers of two
 * releases may show one stored object with different defaults.
 */
export function isAsPlanned(live: DaemonSetObject, planned: DaemonSetObject): boolean {
  return (
    !isOlder(live, planned) &&
    !isEdited(live, planned) &&
    live.status?.observedGeneration === planned.status?.observedGeneration
  );
}

/** Whether creates may go on. */
export type DaemonSetConfirmation =
  | {
      readonly kind: 'confirmed';
      readonly object: DaemonSetObject;
      /** By the API server's clock; absent: it did not say. */
      readonly answeredAtMs?: number;
      /** True if its store may have been restored: pods are listed live before others are made (protocol 15). */
      readonly isDoubtful: boolean;
    }
  /** Gone, re-created, being deleted, or older than it was; `paused`: another client wrote its status. */
  | {
      readonly kind: 'changed' | 'paused';
      readonly message: string;
      readonly isDoubtful?: boolean;
    }
  | {
      readonly kind: 'unavailable';
      readonly message: string;
      readonly isRefused: boolean;
      readonly isDoubtful?: never;
    };

/**
 * The live DaemonSet before anything is created for it (S5): same UID, and not being deleted. One answer covers one
 * batch (protocol 7). A live read is never older than the view, unless etcd went back in time: then the view is of
 * another history, and nothing is made by it (protocol 15, row 71; S2). Of a store that may have, the caller asks more. Who else
 * wrote its status is looked at, too: that pauses it, and nothing is made (ADR 0012).
 */
export async function confirmDaemonSet(step: PresentStep): Promise<DaemonSetConfirmation> {
  const { input } = step;
  const live = await readDaemonSetNow(step);
  if (isOfLostHistory(live, input)) return RESTORED;
  const confirmation = compareDaemonSet(live, input.stored);
  if (confirmation.kind !== 'confirmed') return confirmation;
  const paused = await noteForeignStatusWrite(confirmation, step);
  return paused === undefined ? confirmation : { kind: 'paused', message: pauseText(paused) };
}

/** Why a run or a batch goes no further, where a DaemonSet was not confirmed. */
export function unconfirmedCode({
  kind,
}: Exclude<DaemonSetConfirmation, { kind: 'confirmed' }>): DeferralCode {
  if (kind === 'paused') return 'conflict-suspected';
  return kind === 'changed' ? 'daemon-set-changed' : 'cluster-unavailable';
}

/** Of what would go for a template that is not the live one any more. */
export const EDITED_MEANWHILE = 'the DaemonSet was edited meanwhile';

const RESTORED: DaemonSetConfirmation = {
  kind: 'changed',
  message: 'the API server is behind the view: etcd went back in time',
  isDoubtful: true,
};

function compareDaemonSet(
  live: DaemonSetRead,
  { ref, meta }: LoadedInput['stored'],
): DaemonSetConfirmation {
  if (live.kind === 'unavailable') return live;
  if (live.kind === 'missing') return { kind: 'changed', message: 'the DaemonSet is gone' };
  const { uid, deletionTimestamp } = live.object.metadata;
  if (uid !== ref.uid) return { kind: 'changed', message: 'the DaemonSet has another UID' };
  if (deletionTimestamp !== undefined) {
    return { kind: 'changed', message: 'the DaemonSet is being deleted' };
  }
  const isDoubtful = isStoreDoubtful(live.storeVersion, meta);
  const { object, answeredAtMs } = live;
  return { kind: 'confirmed', object, isDoubtful, ...defined({ answeredAtMs }) };
}

/** The DaemonSet of a run as it is now, from a store of which the run knows how far it has to be. */
function readDaemonSetNow({ context, input, access }: PresentStep): Promise<DaemonSetRead> {
  const { meta } = input.stored;
  return access.getDaemonSet(keyOf(context), {
    notBehind: seenOfDaemonSets(seenBy(input)),
    isDoubtful: (storeVersion) => isStoreDoubtful(storeVersion, meta),
  });
}

/** True of an answer that is behind what the run's view, or our own writes, saw of the object or of its store. */
function isOfLostHistory(live: DaemonSetRead, input: PresentStep['input']): boolean {
  if (live.kind !== 'found') return false;
  const { object } = input.stored.daemonSet;
  return isOlder(live.object, object) || isStoreRestored(live.storeVersion, seenBy(input));
}

function seenBy({ stored }: PresentStep['input']): SeenOfStore {
  return { meta: stored.meta, written: stored.state?.written };
}

/** Reads are linearizable: only a restored etcd answers with a lower version than was seen before. */
function isOlder(live: DaemonSetObject, seen: DaemonSetObject | null): boolean {
  const now = live.metadata.resourceVersion;
  const before = seen?.metadata.resourceVersion;
  if (!isResourceVersion(now) || !isResourceVersion(before)) return false;
  return compareResourceVersions(now, before) < 0;
}

/** True if what is to go for the template was planned by another spec, or by another policy (its text, whatever it says). */
export function isReplanned(live: DaemonSetObject, planned: DaemonSetObject): boolean {
  return isEdited(live, planned) || policyTextOf(live) !== policyTextOf(planned);
}

/** True if the spec is not the one that was planned for; what one API server alone fills in is no edit. */
export function isEdited(live: DaemonSetObject, planned: DaemonSetObject): boolean {
  if (live.metadata.generation !== planned.metadata.generation) return true;
  return contradictsTemplate(live, revisionData(planned));
}

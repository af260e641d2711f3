/**
 * The current revision of a run: what the state still knows, or what a live look finds (spec 2.10).
 *
 * A look is due when the generation, the template or the seen set changed: one LIST by selector, and a GET of each owned revision
 * that the selector misses. Two runs that look at once ask for the same: every step is fenced by name, UID or version (S10).
 */
import { generationOf } from '../../../core/daemon-set/generation.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { Step } from '../run/context.ts';
import { compileSelector } from '@rollcall/base/label-selector.ts';
import { uid } from '../../../core/model/identifiers.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import type { RevisionProjection } from '../../../core/model/projections.ts';
import type { Stamp } from '../../../core/model/position.ts';
import type { HistoryEntry } from '../../../core/model/state.ts';
import { planHistory } from '../../../core/history/history-plan.ts';
import { contradictsTemplate } from '../../../core/history/history-match.ts';
import { revisionHash, revisionHashOf } from '../../../core/history/revisions.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import { carryOutHistory } from './history-carry-out.ts';
import { unreadable } from './history-result.ts';
import type { HistoryEnd, HistoryFailure, HistoryResult } from './history-result.ts';
import { selectorText } from '../confirm/live-pods.ts';

export interface HistoryLook {
  readonly daemonSet: DaemonSetObject;
  /** ControllerRevisions of the set as read. */
  readonly seen: readonly RevisionProjection[];
  readonly revisionsChanged: Stamp;
  readonly known: HistoryEntry | undefined;
}

/** The entry of this generation, if its revision may still exist: good for planning, not for trimming. */
export function knownHistory(look: HistoryLook): HistoryEntry | undefined {
  const { known } = look;
  if (known === undefined || !isOfTemplate(known, look.daemonSet)) return undefined;
  const isSeen = look.seen.some((item) => item.uid === known.uid);
  return isSeen || known.lookedUpAt === look.revisionsChanged ? known : undefined;
}

/** True if neither the DaemonSet's template nor the seen set changed since the look that made the entry. */
export function isFreshHistory(entry: HistoryEntry, look: HistoryLook): boolean {
  return isOfTemplate(entry, look.daemonSet) && entry.lookedUpAt === look.revisionsChanged;
}

function isOfTemplate(entry: HistoryEntry, daemonSet: DaemonSetObject): boolean {
  return isOfGeneration(entry, daemonSet) && entry.template === templateHash(daemonSet);
}

function isOfGeneration({ generation }: HistoryEntry, daemonSet: DaemonSetObject): boolean {
  return generation === generationOf(daemonSet);
}

/** Of objects that some run still holds, each hashed once: a run asks several times. */
const templateHashes = new WeakMap<DaemonSetObject, string>();

function templateHash(daemonSet: DaemonSetObject): string {
  const known = templateHashes.get(daemonSet);
  // Stryker disable next-line ConditionalExpression: what is remembered is what would be made again
  if (known !== undefined) return known;
  const made = revisionHash(daemonSet, 0);
  // Stryker disable next-line CallExpression: what is not remembered is made again
  templateHashes.set(daemonSet, made);
  return made;
}

/** A guess for clusters that may not be asked: the newest owned revision. */
export function guessHash(
  daemonSet: DaemonSetObject,
  seen: readonly RevisionProjection[],
): string | undefined {
  let newest: RevisionProjection | undefined;
  for (const item of seen) {
    if (item.ownerUid !== daemonSet.metadata.uid) continue;
    if (newest === undefined || item.revision > newest.revision) newest = item;
  }
  return newest === undefined ? undefined : newest.labels['controller-revision-hash'];
}

/** Looks live, and brings the revisions into order. */
export async function lookUpHistory(look: HistoryLook, writing: Step): Promise<HistoryResult> {
  const read = await readRevisions(look, writing.access);
  if (read.kind === 'failed') return read;
  const end = await arrangeHistory(read.revisions, look, writing);
  if (end.kind !== 'done') return end;
  const { current, hasWritten, podsWritten } = end;
  const entry = entryOf(current, look);
  return { kind: 'known', entry, hasWritten, ...defined({ podsWritten }) };
}

/** Plans and carries out, again without an orphan that turned out not to be adoptable. */
async function arrangeHistory(
  revisions: readonly KubernetesObject[],
  look: HistoryLook,
  writing: Step,
): Promise<Exclude<HistoryEnd, { kind: 'unadoptable' }>> {
  const { daemonSet } = look;
  const plan = planHistory({ daemonSet, revisions, knownUid: knownUidOf(look, revisions) });
  const end = await carryOutHistory(plan, writing);
  if (end.kind !== 'unadoptable') return end;
  const others = revisions.filter(({ metadata }) => metadata.uid !== end.uid);
  return arrangeHistory(others, look, writing);
}

/**
 * The revision that was current at this generation. If the template is another one now, an API server filled
 * something in, or etcd was restored and the generation given out again: the revision's data tell.
 */
export function knownUidOf(
  { daemonSet, known }: HistoryLook,
  revisions: readonly KubernetesObject[],
): string | undefined {
  if (known === undefined || !isOfGeneration(known, daemonSet)) return undefined;
  if (isOfTemplate(known, daemonSet)) return known.uid;
  const revision = revisions.find(({ metadata }) => metadata.uid === known.uid);
  const data = revision?.['data'] as Json | undefined; // raw JSON of an API server
  return contradictsTemplate(daemonSet, data) ? undefined : known.uid;
}

/** By selector, and the owned ones that it misses; whole or not at all (faults 35). */
async function readRevisions(
  { daemonSet, seen }: HistoryLook,
  reader: ClusterReader,
): Promise<
  { readonly kind: 'read'; readonly revisions: readonly KubernetesObject[] } | HistoryFailure
> {
  const namespace = daemonSet.metadata.namespace ?? '';
  const listed = await reader.listRevisions(namespace, selectorText(daemonSet.spec.selector));
  if (listed.kind === 'unavailable') return unreadable(listed);
  const revisions = listed.kind === 'found' ? [...listed.object] : [];
  const selector = compileSelector(daemonSet.spec.selector);
  const strays = seen.filter(
    ({ ownerUid, labels }) => ownerUid === daemonSet.metadata.uid && !selector.matches(labels),
  );
  for (const { name } of strays) {
    const live = await reader.getRevision({ namespace, name });
    if (live.kind === 'unavailable') return unreadable(live);
    if (live.kind === 'found') revisions.push(live.object);
  }
  return { kind: 'read', revisions };
}

/** What the state remembers of a current revision. */
export function entryOf(revision: KubernetesObject, look: HistoryLook): HistoryEntry {
  return {
    generation: generationOf(look.daemonSet),
    template: templateHash(look.daemonSet),
    uid: uid(revision.metadata.uid),
    name: revision.metadata.name,
    hash: revisionHashOf(revision),
    lookedUpAt: look.revisionsChanged,
  };
}

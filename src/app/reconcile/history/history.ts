/**
 * The current revision of a run: what the state still knows, else what a live look finds or makes (spec 2.10).
 *
 * A look is due when the generation, the template or the seen set changed, in a run that may act: one LIST by selector,
 * and a GET of each owned revision that it misses. Two runs that look at once ask for the same: every step is fenced by
 * name, UID or version (S10). A failure ends the run (spec 2.3 step 6), and so does a relabelled pod: what was seen of
 * pods is behind, and they would be taken for old ones.
 */
import { generationOf, isObserved } from '../../../core/daemon-set/generation.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { Answers, LoadedInput, ReconcileInput, RunContext, Step } from '../run/context.ts';
import type { PutOff } from '../run/exit.ts';
import { compileSelector } from '@rollcall/base/label-selector.ts';
import { noteWritten } from '../../../core/intents/intents.ts';
import { uid } from '../../../core/model/identifiers.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import type { RevisionProjection } from '../../../core/model/projections.ts';
import type { Stamp } from '../../../core/model/position.ts';
import type { DaemonSetState, HistoryEntry } from '../../../core/model/state.ts';
import { planHistory } from '../../../core/history/history-plan.ts';
import {
  contradictsTemplate,
  isBuiltInCurrent,
  newestRevision,
} from '../../../core/history/history-match.ts';
import { revisionHash, revisionHashOf } from '../../../core/history/revisions.ts';
import { heldWrite, isRefusedWrite } from '../../../core/retry/retry.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import { carryOutHistory } from './history-carry-out.ts';
import { unreadable } from './history-result.ts';
import type { HistoryEnd, HistoryFailure, HistoryResult } from './history-result.ts';
import { selectorText } from '../confirm/live-pods.ts';

type HistoryFinding =
  | { readonly kind: 'found'; readonly history: NonNullable<Answers['history']> }
  /** How the run ends, and the state with what is known by then of own writes. */
  | { readonly kind: 'ended'; readonly end: PutOff; readonly state: DaemonSetState };

/** What the state knows of the current revision; settled: nothing that it was told from has changed since. */
export function storedHistory(input: LoadedInput): NonNullable<Answers['history']> {
  const look = lookOf(input);
  const entry = knownHistory(look);
  return { entry, isSettled: entry !== undefined && isFreshHistory(entry, look) };
}

function lookOf({ daemonSet, state, stored, read }: LoadedInput): HistoryLook {
  const { revisionsChanged } = stored.position;
  return { daemonSet, seen: read.revisions, revisionsChanged, known: state.history };
}

/** Finds the current revision live; creates it if there is none. In copilot the built-in controller does that. */
export async function findHistory(
  input: ReconcileInput,
  context: RunContext,
): Promise<HistoryFinding> {
  const { state, stored, daemonSet } = input;
  const look = lookOf(input);
  const held = heldWrite('history-refused', input);
  if (held !== undefined) return { kind: 'ended', end: endOf(held, daemonSet), state };
  const access = await input.access.get();
  if (access === undefined) {
    return { kind: 'ended', end: { kind: 'unavailable', message: 'no access' }, state };
  }
  const { era } = stored.meta;
  const lookUp = stored.registration.mode === 'copilot' ? lookUpBuiltInHistory : lookUpHistory;
  const found = await lookUp(look, { context, input, access });
  switch (found.kind) {
    case 'known': {
      const { entry, hasWritten, podsWritten } = found;
      if (podsWritten === undefined) {
        return { kind: 'found', history: { entry, isSettled: !hasWritten } };
      }
      const written = { type: 'pods', resourceVersion: podsWritten, era } as const;
      const end = lookAgain('pods of a duplicate revision were relabelled');
      return { kind: 'ended', end, state: { ...raised(state, written), history: entry } };
    }
    case 'look-again': {
      const { message, daemonSetWritten } = found;
      const end = lookAgain(message);
      if (daemonSetWritten === undefined) return { kind: 'ended', end, state };
      const written = { type: 'daemonSet', resourceVersion: daemonSetWritten, era } as const;
      return { kind: 'ended', end, state: raised(state, written) };
    }
    case 'failed':
      return { kind: 'ended', end: endOf(found, daemonSet), state };
  }
}

/** Marks of own writes, so that the next run waits until they are seen (spec 2.3 step 1). */
function raised(state: DaemonSetState, write: Parameters<typeof noteWritten>[1]): DaemonSetState {
  return { ...state, written: noteWritten(state.written, write) };
}

function lookAgain(message: string): PutOff {
  return { kind: 'deferral', deferral: { code: 'own-writes-unseen', message, delayMs: 0 } };
}

function endOf(
  { code, message }: Pick<HistoryFailure, 'code' | 'message'>,
  daemonSet: DaemonSetObject,
): PutOff {
  const holdsCreates = code === 'namespace-terminating';
  const generation = isRefusedWrite(code) ? generationOf(daemonSet) : undefined;
  return { kind: 'back-off', reason: { code, message, holdsCreates, ...defined({ generation }) } };
}

// In copilot the built-in controller makes the revision; nothing is written. Waiting for it ends with what the watcher
// reports next; the key's back-off is only the backstop, so one that stands still costs ever fewer looks (L5).

/** Looks which revision the built-in controller made of the present template. */
async function lookUpBuiltInHistory(
  look: HistoryLook,
  { access }: Pick<Step, 'access'>,
): Promise<Extract<HistoryResult, { kind: 'known' | 'failed' }>> {
  const { daemonSet } = look;
  if (!isObserved(daemonSet)) return behind('has not seen the present generation');
  const newest = newestRevision(daemonSet, look.seen);
  if (newest === undefined) return behind('has made no revision');
  const { namespace, name } = newest;
  const live = await access.getRevision({ namespace, name });
  if (live.kind === 'unavailable') return unreadable(live);
  const isSeen = live.kind === 'found' && uid(live.object.metadata.uid) === newest.uid;
  if (!isSeen || !isBuiltInCurrent(daemonSet, live.object, knownUidOf(look, [live.object]))) {
    return behind('has not made the revision of the present template');
  }
  return { kind: 'known', entry: entryOf(live.object, look), hasWritten: false };
}

function behind(what: string): HistoryFailure {
  const message = `the built-in controller ${what}; waiting for it`;
  return { kind: 'failed', code: 'built-in-behind', message };
}

// What a look starts from, and how it is made.

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
async function lookUpHistory(look: HistoryLook, step: Step): Promise<HistoryResult> {
  const read = await readRevisions(look, step.access);
  if (read.kind === 'failed') return read;
  const end = await arrangeHistory(read.revisions, look, step);
  if (end.kind !== 'done') return end;
  const { current, hasWritten, podsWritten } = end;
  const entry = entryOf(current, look);
  return { kind: 'known', entry, hasWritten, ...defined({ podsWritten }) };
}

/** Plans and carries out, again without an orphan that turned out not to be adoptable. */
async function arrangeHistory(
  revisions: readonly KubernetesObject[],
  look: HistoryLook,
  step: Step,
): Promise<Exclude<HistoryEnd, { kind: 'unadoptable' }>> {
  const { daemonSet } = look;
  const plan = planHistory({ daemonSet, revisions, knownUid: knownUidOf(look, revisions) });
  const end = await carryOutHistory(plan, step);
  if (end.kind !== 'unadoptable') return end;
  const others = revisions.filter(({ metadata }) => metadata.uid !== end.uid);
  return arrangeHistory(others, look, step);
}

/**
 * The revision that was current at this generation. If the template is another one now, an API server filled
 * something in, or etcd was restored and the generation given out again: the revision's data tell.
 */
function knownUidOf(
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
function entryOf(revision: KubernetesObject, look: HistoryLook): HistoryEntry {
  return {
    generation: generationOf(look.daemonSet),
    template: templateHash(look.daemonSet),
    uid: uid(revision.metadata.uid),
    name: revision.metadata.name,
    hash: revisionHashOf(revision),
    lookedUpAt: look.revisionsChanged,
  };
}

/**
 * History as far as created pods need it: the hash of the current revision (spec 2.10).
 *
 * Revisions are fetched only when the generation or the seen set changed (design 3, step 1); what was
 * found is kept in the state. A revision is matched by meaning; if none matches, one is created
 * under a name that follows from its content, so two runs ask for the same. Renumbering,
 * deduplication and trimming come with rollouts. Everything here is fenced by names and UIDs (S10).
 *
 * Differs from upstream: a hash collision is stepped over deterministically instead of raising
 * status.collisionCount, because the revision is found again by its content.
 */
import { uid } from '../../core/model/identifiers.ts';
import type { Outcome } from '../../core/model/effects.ts';
import { isJsonObject } from '../../core/model/json.ts';
import type { DaemonSetObject, KubernetesObject } from '../../core/model/kubernetes.ts';
import type { RevisionProjection } from '../../core/model/projections.ts';
import type { Stamp } from '../../core/model/position.ts';
import type { HistoryEntry } from '../../core/model/state.ts';
import { buildAdoptPatch, controllerUidOf } from '../../core/owner.ts';
import {
  buildRevision,
  findMatchingRevision,
  nextRevisionNumber,
  revisionHash,
  revisionHashOf,
} from '../../core/revisions.ts';
import type { ClusterAccess } from '../../ports/cluster-access.ts';
import { confirmDaemonSet } from './live-daemon-set.ts';
import { selectorText } from './selector-text.ts';

/** Collisions of our own hash that are stepped over before giving up. */
const COLLISIONS_MAX = 5;

/** What history is told from. */
export interface HistoryInput {
  readonly daemonSet: DaemonSetObject;
  /** ControllerRevisions of the set as read. */
  readonly seen: readonly RevisionProjection[];
  readonly revisionsChanged: Stamp;
  readonly known: HistoryEntry | undefined;
  readonly deadlineMs: number;
}

/** The current revision, or why it is not known. */
export type HistoryResult =
  | { readonly kind: 'known'; readonly entry: HistoryEntry }
  | { readonly kind: 'changed'; readonly message: string }
  | {
      readonly kind: 'failed';
      readonly code: 'namespace-terminating' | 'history';
      readonly message: string;
      readonly retryAfterMs?: number;
    };

/** The entry if it still holds: same generation, and its revision is still in the seen set. */
export function knownHistory(
  input: Pick<HistoryInput, 'daemonSet' | 'seen' | 'revisionsChanged' | 'known'>,
): HistoryEntry | undefined {
  const { known } = input;
  if (known === undefined || known.generation !== (input.daemonSet.metadata.generation ?? 0)) {
    return undefined;
  }
  const isSeen = input.seen.some((item) => item.uid === known.uid && !item.isTerminating);
  return isSeen || known.lookedUpAt === input.revisionsChanged ? known : undefined;
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

/** Finds the current revision live, or creates it. */
export async function lookUpHistory(
  input: HistoryInput,
  access: ClusterAccess,
): Promise<HistoryResult> {
  const { daemonSet } = input;
  const namespace = daemonSet.metadata.namespace ?? '';
  const listed = await access.listRevisions(namespace, selectorText(daemonSet.spec.selector));
  if (listed.kind === 'unavailable') return { ...listed, kind: 'failed', code: 'history' };
  const revisions = listed.kind === 'found' ? listed.object : [];
  const found = findMatchingRevision(daemonSet, revisions);
  if (found !== undefined && controllerUidOf(found) !== undefined) {
    return { kind: 'known', entry: entryOf(found, input) };
  }
  const confirmation = await confirmDaemonSet(access, {
    namespace,
    name: daemonSet.metadata.name,
    uid: uid(daemonSet.metadata.uid),
  });
  if (confirmation.kind === 'changed') return confirmation;
  if (confirmation.kind === 'unavailable') {
    return { ...confirmation, kind: 'failed', code: 'history' };
  }
  if (found !== undefined) return adoptRevision(found, { input, access });
  return createRevision(revisions, { input, access });
}

interface HistoryContext {
  readonly input: HistoryInput;
  readonly access: ClusterAccess;
}

async function adoptRevision(
  found: KubernetesObject,
  { input, access }: HistoryContext,
): Promise<HistoryResult> {
  const orphan: Pick<RevisionProjection, 'kind' | 'namespace' | 'name' | 'uid'> = {
    kind: 'ControllerRevision',
    namespace: found.metadata.namespace ?? '',
    name: found.metadata.name,
    uid: uid(found.metadata.uid),
  };
  const effect = buildAdoptPatch(input.daemonSet, orphan);
  const [outcome] = await access.execute([effect], { deadlineMs: input.deadlineMs });
  if (outcome?.kind === 'done') return { kind: 'known', entry: entryOf(found, input) };
  return failedBy(outcome, 'the revision could not be adopted');
}

async function createRevision(
  revisions: readonly KubernetesObject[],
  context: HistoryContext,
): Promise<HistoryResult> {
  const { daemonSet } = context.input;
  const revision = nextRevisionNumber(daemonSet, revisions);
  const firstCount = daemonSet.status?.collisionCount ?? 0;
  for (let count = firstCount; count < firstCount + COLLISIONS_MAX; count += 1) {
    const body = buildRevision(daemonSet, { hash: revisionHash(daemonSet, count), revision });
    const result = await tryRevision(body, context);
    if (result !== 'taken') return result;
  }
  return { kind: 'failed', code: 'history', message: 'every name of the revision is taken' };
}

/** Creates one revision; `taken` when its name holds other content, or somebody else's. */
async function tryRevision(
  body: ReturnType<typeof buildRevision>,
  { input, access }: HistoryContext,
): Promise<HistoryResult | 'taken'> {
  const { daemonSet, deadlineMs } = input;
  const namespace = daemonSet.metadata.namespace ?? '';
  const name = nameOf(body);
  const effect = { kind: 'create-revision' as const, namespace, name, body };
  const [outcome] = await access.execute([effect], { deadlineMs });
  if (outcome?.kind === 'done') {
    const created = outcome.object as unknown as KubernetesObject; // the answer is the revision
    return { kind: 'known', entry: entryOf(created, input) };
  }
  if (outcome?.kind !== 'exists') return failedBy(outcome, 'the revision could not be created');
  const live = await access.getRevision({ namespace, name });
  if (live.kind === 'unavailable') return { ...live, kind: 'failed', code: 'history' };
  const same = live.kind === 'found' ? findMatchingRevision(daemonSet, [live.object]) : undefined;
  const isOurs = same !== undefined && controllerUidOf(same) !== undefined;
  return isOurs ? { kind: 'known', entry: entryOf(same, input) } : 'taken';
}

function failedBy(outcome: Outcome | undefined, what: string): HistoryResult {
  if (outcome?.kind === 'refused') {
    const isClosing =
      outcome.code === 'namespace-terminating' || outcome.code === 'namespace-missing';
    const code = isClosing ? 'namespace-terminating' : 'history';
    return { kind: 'failed', code, message: `${what}: ${outcome.message}` };
  }
  if (outcome?.kind === 'unsent' && outcome.retryAfterMs !== undefined) {
    return { kind: 'failed', code: 'history', message: what, retryAfterMs: outcome.retryAfterMs };
  }
  return { kind: 'failed', code: 'history', message: `${what}: ${outcome?.kind ?? 'no answer'}` };
}

function entryOf(revision: KubernetesObject, input: HistoryInput): HistoryEntry {
  return {
    generation: input.daemonSet.metadata.generation ?? 0,
    uid: uid(revision.metadata.uid),
    name: revision.metadata.name,
    hash: revisionHashOf(revision),
    lookedUpAt: input.revisionsChanged,
  };
}

function nameOf(body: ReturnType<typeof buildRevision>): string {
  const { metadata } = body;
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string') throw new Error('a revision was built without a name');
  return name;
}

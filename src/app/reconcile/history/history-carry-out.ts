/**
 * Carries out a plan for revisions, in upstream's order (spec 2.10): release, adopt, repair hashes, relabel pods of
 * duplicates, delete duplicates, renumber, or create. The live DaemonSet is compared once, before the first write, so a run
 * of an older template changes nothing. The first failure ends the run; the next one plans anew from a live list.
 * Differs from upstream: an orphan whose adoption is invalid is left alone; no patch of data with unescaped `<` or `&` passes.
 */
import { defined } from '@rollcall/base/defined.ts';
import { mayContinue, sendOne, versionOf, keyOf, type Step } from '../run/context.ts';
import type { Outcome, Effect, PatchEffect } from '../../../core/model/effects.ts';
import type { KubernetesObject, DaemonSetObject } from '@rollcall/base/objects.ts';
import {
  buildHashRepair,
  buildRenumbering,
  buildRevisionAdoption,
  buildRevisionDelete,
  buildRevisionRelease,
  buildPodRelabel,
} from '../../../core/history/history-patches.ts';
import { changesHistory, type HistoryPlan } from '../../../core/history/history-plan.ts';
import { historyFailure, unreadable } from './history-result.ts';
import type { HistoryEnd, HistoryFailure, HistoryPause } from './history-result.ts';
import { isEdited, confirmDaemonSet, unconfirmedCode } from '../confirm/live-daemon-set.ts';
import { counted } from '@rollcall/base/counted.ts';
import { newerVersion, type ResourceVersion } from '../../../core/model/identifiers.ts';
import { REVISION_HASH_LABEL } from '../../../core/pod/pod-facts.ts';
import { revisionHashOf, buildRevision, revisionHash } from '../../../core/history/revisions.ts';
import { sendFenced } from '../confirm/batch-fence.ts';
import { selectorText } from '../confirm/live-pods.ts';
import { jsonMember, type JsonObject } from '@rollcall/base/json.ts';
import { holdsTemplate } from '../../../core/history/history-match.ts';
import { controllerUidOf } from '../../../core/pod/owner.ts';
import { statusBody } from '../status/write-status.ts';
import type { DaemonSetConfirmation } from '../confirm/live-daemon-set.ts';

export async function carryOutHistory(plan: HistoryPlan, step: Step): Promise<HistoryEnd> {
  if (!changesHistory(plan) && plan.current !== undefined) {
    return { kind: 'done', current: plan.current, hasWritten: false };
  }
  const doubt = await confirmPresent(step);
  if (doubt !== undefined) return doubt;
  const { daemonSet } = step.input;
  const writes = new RevisionWrites(step);
  const failure = await claim(plan, daemonSet, writes);
  if (failure !== undefined) return failure;
  if (plan.current === undefined) return createRevision(plan.nextNumber, step);
  return arrange(plan, plan.current, writes, step);
}

type ClaimFailure = Extract<HistoryEnd, { kind: 'failed' | 'unadoptable' }>;

/** Releases, adoptions, repaired hashes. */
async function claim(
  plan: HistoryPlan,
  daemonSet: DaemonSetObject,
  writes: RevisionWrites,
): Promise<ClaimFailure | undefined> {
  const released = await writes.each(plan.releases, {
    toBe: 'released',
    effectOf: (revision) => buildRevisionRelease(daemonSet, revision),
    // "Not found" and "invalid" mean that another writer was faster (spec 2.4).
    isLeft: (outcome) => isGone(outcome) || isInvalid(outcome),
  });
  const failure = released ?? (await adopt(plan, daemonSet, writes));
  return failure ?? writes.each(plan.labels, { toBe: 'labelled', effectOf: buildHashRepair });
}

async function adopt(
  plan: HistoryPlan,
  daemonSet: DaemonSetObject,
  writes: RevisionWrites,
): Promise<ClaimFailure | undefined> {
  for (const revision of plan.adopts) {
    const isSame = revision === plan.current || plan.duplicates.includes(revision);
    const content = isSame ? 'present-template' : 'other-template';
    const outcome = await writes.send(
      revision,
      buildRevisionAdoption(daemonSet, revision, content),
    );
    if (isInvalid(outcome)) return { kind: 'unadoptable', uid: revision.metadata.uid };
    if (outcome.kind !== 'done') return failureOf(revision, 'adopted', outcome);
  }
  return undefined;
}

/** One revision of the present template, and that one the newest. */
async function arrange(
  plan: HistoryPlan,
  current: KubernetesObject,
  writes: RevisionWrites,
  step: Step,
): Promise<HistoryEnd> {
  const { duplicates, nextNumber } = plan;
  const { daemonSet } = step.input;
  const relabelled = await relabelPods({ kept: current, duplicates }, step);
  if (relabelled.kind !== 'relabelled') return relabelled;
  const deleted = await writes.each(duplicates, {
    toBe: 'deleted',
    effectOf: ({ metadata: { namespace = '', name, uid, resourceVersion } }) =>
      buildRevisionDelete({ namespace, name, uid, resourceVersion }),
    isLeft: isGone,
  });
  const renumber = {
    toBe: 'renumbered',
    effectOf: (revision: KubernetesObject) => buildRenumbering(daemonSet, revision, nextNumber),
  };
  const failure = deleted ?? (await writes.each(plan.isRenumbered ? [current] : [], renumber));
  if (failure !== undefined) return failure;
  const podsWritten = relabelled.written;
  const latest = writes.latest(current);
  return { kind: 'done', current: latest, hasWritten: true, ...defined({ podsWritten }) };
}

/** The DaemonSet live: what is written follows from this template and no other. */
async function confirmPresent(step: Step): Promise<HistoryFailure | undefined> {
  const confirmation = await confirmForHistory(step);
  if (confirmation.kind === 'failed') return confirmation;
  if (!isEdited(confirmation.object, step.input.daemonSet)) return undefined;
  const message = 'the DaemonSet was edited since it was seen';
  return { kind: 'failed', code: 'daemon-set-changed', message };
}

/** Sends one request at a time, and keeps what came back. */
class RevisionWrites {
  readonly #step: Step;
  readonly #latest = new Map<string, KubernetesObject>();

  constructor(step: Step) {
    this.#step = step;
  }

  /** The revision as the last of our writes left it. */
  latest(revision: KubernetesObject): KubernetesObject {
    return this.#latest.get(revision.metadata.uid) ?? revision;
  }

  /** Sends one effect for each, until one is not left as it was to be. */
  async each(
    revisions: readonly KubernetesObject[],
    write: {
      readonly toBe: string;
      readonly effectOf: (revision: KubernetesObject) => Effect;
      readonly isLeft?: (outcome: Outcome) => boolean;
    },
  ): Promise<HistoryFailure | undefined> {
    const { toBe, effectOf, isLeft = ({ kind }) => kind === 'done' } = write;
    for (const revision of revisions) {
      const outcome = await this.send(revision, effectOf(this.latest(revision)));
      if (!isLeft(outcome)) return failureOf(revision, toBe, outcome);
    }
    return undefined;
  }

  async send(revision: KubernetesObject, effect: Effect): Promise<Outcome> {
    if (!mayContinue(this.#step.context)) {
      return { kind: 'unsent', message: 'the time of this run is over' };
    }
    const outcome = await sendOne(effect, this.#step);
    if (outcome.kind === 'done' && effect.kind === 'patch') {
      const object = outcome.object as unknown as KubernetesObject; // the answer is the revision
      this.#latest.set(revision.metadata.uid, object);
    }
    return outcome;
  }
}

function isGone({ kind }: Outcome): boolean {
  return kind === 'done' || kind === 'gone';
}

function isInvalid(outcome: Outcome): boolean {
  return outcome.kind === 'refused' && outcome.code === 'invalid';
}

function failureOf({ metadata }: KubernetesObject, what: string, outcome: Outcome): HistoryFailure {
  return historyFailure(outcome, `revision ${metadata.name} could not be ${what}`);
}

// Pods of duplicate revisions get the hash of the one that is kept (spec 2.10 step 5). They are listed live: one that
// the view does not show yet would be taken for an old one later, and restarted. One that is not relabelled keeps its
// duplicate alive, and the next run goes on. Differs from upstream, which relabels pods of really older templates too.

/** Patches sent side by side. */
const PATCHES_AT_ONCE = 50;

/** Every pod carries the kept hash now; `written` is the highest version that a patch returned. */
export type Relabelling =
  | { readonly kind: 'relabelled'; readonly written: ResourceVersion | undefined }
  | HistoryPause
  | HistoryFailure;

async function relabelPods(
  revisions: { readonly kept: KubernetesObject; readonly duplicates: readonly KubernetesObject[] },
  step: Step,
): Promise<Relabelling> {
  const { access, input } = step;
  const { metadata, spec } = input.daemonSet;
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
  const { burstPodsMax } = step.context.dependencies.options;
  const end = await sendRelabels(effects.slice(0, burstPodsMax), step);
  if (end.kind !== 'relabelled' || effects.length <= burstPodsMax) return end;
  const message = `${counted(effects.length - burstPodsMax, 'pod is', 'pods are')} left to be relabelled`;
  return { kind: 'look-again', message };
}

async function sendRelabels(effects: readonly PatchEffect[], step: Step): Promise<Relabelling> {
  const items = effects.map((effect) => ({ effect }));
  const { sent, stopped } = await sendFenced(
    items,
    { ...step, stateVersion: step.input.state.version },
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

/**
 * Creates the revision of this number, or finds that it is there (spec 2.10).
 *
 *   create ── AlreadyExists ── live GET ── ours, same content ──▶ it is the current one
 *                                 └─ anything else ── live DaemonSet of the same collisionCount ──▶ raise it, look again
 *
 * Name and content follow from each other, so two runs ask for the same. The status write changes one number (S7).
 * Differs from upstream: a revision of that name and content counts only if it is ours (S10).
 */
async function createRevision(number: number, step: Step): Promise<HistoryEnd> {
  const { input, access } = step;
  const { daemonSet } = input;
  const namespace = daemonSet.metadata.namespace ?? '';
  const hash = revisionHash(daemonSet, daemonSet.status?.collisionCount ?? 0);
  const body = buildRevision(daemonSet, { hash, revision: number });
  const name = nameOf(body);
  const effect = { kind: 'create-revision' as const, namespace, name, body };
  const outcome = await sendOne(effect, step);
  if (outcome.kind === 'done') {
    const current = outcome.object as unknown as KubernetesObject; // the answer is the revision
    return { kind: 'done', current, hasWritten: true };
  }
  if (outcome.kind !== 'exists') {
    return historyFailure(outcome, `revision ${name} could not be created`);
  }
  const live = await access.getRevision({ namespace, name });
  if (live.kind === 'unavailable') return unreadable(live);
  if (live.kind === 'missing') return again(`revision ${name} was there and is gone`);
  const isOurs = controllerUidOf(live.object) === daemonSet.metadata.uid;
  if (isOurs && holdsTemplate(daemonSet, live.object)) {
    return { kind: 'done', current: live.object, hasWritten: true };
  }
  return raiseCollisionCount(name, step);
}

async function raiseCollisionCount(
  taken: string,
  step: Step,
): Promise<HistoryPause | HistoryFailure> {
  const { input } = step;
  const confirmation = await confirmForHistory(step);
  if (confirmation.kind === 'failed') return confirmation;
  const live = confirmation.object;
  const count = live.status?.collisionCount ?? 0;
  if (count !== (input.daemonSet.status?.collisionCount ?? 0)) {
    return again('the collisionCount that was seen is behind');
  }
  return writeCollisionCount({ live, count: count + 1, taken }, step);
}

async function confirmForHistory(
  step: Step,
): Promise<Extract<DaemonSetConfirmation, { kind: 'confirmed' }> | HistoryFailure> {
  const confirmation = await confirmDaemonSet(step);
  if (confirmation.kind === 'confirmed') return confirmation;
  if (confirmation.kind === 'unavailable') return unreadable(confirmation);
  return { kind: 'failed', code: unconfirmedCode(confirmation), message: confirmation.message };
}

async function writeCollisionCount(
  wanted: { readonly live: DaemonSetObject; readonly count: number; readonly taken: string },
  step: Step,
): Promise<HistoryPause | HistoryFailure> {
  const { live, count, taken } = wanted;
  const { uid } = step.input.stored.ref;
  const body = withCollisionCount(live, count);
  const effect = { kind: 'update-status' as const, ...keyOf(step.context), uid, body };
  const outcome = await sendOne(effect, step);
  if (outcome.kind === 'conflict') return again('the DaemonSet changed while its name collided');
  if (outcome.kind !== 'done') return historyFailure(outcome, 'collisionCount could not be raised');
  const message = `the name ${taken} is taken: collisionCount is ${count} now`;
  return { ...again(message), ...defined({ daemonSetWritten: versionOf(outcome) }) };
}

/** The live object with one number changed: a status write replaces the whole status. */
function withCollisionCount(live: DaemonSetObject, collisionCount: number): JsonObject {
  const counters = {
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0,
  };
  const status = { ...counters, ...live.status, collisionCount };
  return statusBody(live, status);
}

function again(message: string): HistoryPause {
  return { kind: 'look-again', message };
}

function nameOf(body: JsonObject): string {
  const name = jsonMember(body['metadata'], 'name');
  if (typeof name !== 'string') throw new Error('a revision was built without a name');
  return name;
}

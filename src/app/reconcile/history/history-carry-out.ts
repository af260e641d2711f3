/**
 * Carries out a plan for revisions, step by step in upstream's order (spec 2.10): release, adopt, repair
 * hashes, relabel pods of duplicates, delete duplicates, renumber, or create.
 *
 *   live DaemonSet: same UID, not deleting, same generation and template ── once, before the first write
 *
 * So a run that works on an older template changes nothing (upstream checks before adoptions only).
 * The first failure ends the run; the next one plans anew from a live list, and finds what is left.
 *
 * Differs from upstream: an orphan whose adoption the API server calls invalid is left alone. No patch
 * of data that hold unescaped `<`, `>` or `&` ever passes; upstream fails on it for ever.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Step } from '../run/context.ts';
import type { Outcome, Effect } from '../../../core/model/effects.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import {
  buildHashRepair,
  buildRenumbering,
  buildRevisionAdoption,
  buildRevisionDelete,
  buildRevisionRelease,
} from '../../../core/history/history-patches.ts';
import { changesHistory } from '../../../core/history/history-plan.ts';
import type { HistoryPlan } from '../../../core/history/history-plan.ts';
import { mayContinue, sendOne } from '../run/context.ts';
import { confirmForHistory, createRevision } from './history-create.ts';
import { historyFailure } from './history-result.ts';
import type { HistoryEnd, HistoryFailure } from './history-result.ts';
import { isEdited } from '../confirm/live-daemon-set.ts';
import { relabelPods } from './relabel-pods.ts';

/** Carries out a plan. */
export async function carryOutHistory(plan: HistoryPlan, writing: Step): Promise<HistoryEnd> {
  if (!changesHistory(plan) && plan.current !== undefined) {
    return { kind: 'done', current: plan.current, hasWritten: false };
  }
  const doubt = await confirmPresent(writing);
  if (doubt !== undefined) return doubt;
  const steps = new HistorySteps(writing);
  const failure = await claim(plan, steps);
  if (failure !== undefined) return failure;
  if (plan.current === undefined) return createRevision(plan.nextNumber, writing);
  return arrange(plan, plan.current, steps);
}

type ClaimFailure = Extract<HistoryEnd, { kind: 'failed' | 'unadoptable' }>;

/** Releases, adoptions, repaired hashes. */
async function claim(plan: HistoryPlan, steps: HistorySteps): Promise<ClaimFailure | undefined> {
  const { daemonSet } = steps.writing.subject;
  const released = await steps.each(plan.releases, {
    toBe: 'released',
    effectOf: (revision) => buildRevisionRelease(daemonSet, revision),
    // "Not found" and "invalid" mean that another writer was faster (spec 2.4).
    isLeft: (outcome) => isGone(outcome) || isInvalid(outcome),
  });
  const failure = released ?? (await adopt(plan, steps));
  return failure ?? steps.each(plan.labels, { toBe: 'labelled', effectOf: buildHashRepair });
}

async function adopt(plan: HistoryPlan, steps: HistorySteps): Promise<ClaimFailure | undefined> {
  const { daemonSet } = steps.writing.subject;
  for (const revision of plan.adopts) {
    const isSame = revision === plan.current || plan.duplicates.includes(revision);
    const content = isSame ? 'present-template' : 'other-template';
    const outcome = await steps.send(revision, buildRevisionAdoption(daemonSet, revision, content));
    if (isInvalid(outcome)) return { kind: 'unadoptable', uid: revision.metadata.uid };
    if (outcome.kind !== 'done') return failureOf(revision, 'adopted', outcome);
  }
  return undefined;
}

/** One revision of the present template, and that one the newest. */
async function arrange(
  plan: HistoryPlan,
  current: KubernetesObject,
  steps: HistorySteps,
): Promise<HistoryEnd> {
  const { duplicates, nextNumber } = plan;
  const { daemonSet } = steps.writing.subject;
  const relabelled = await relabelPods({ kept: current, duplicates }, steps.writing);
  if (relabelled.kind !== 'relabelled') return relabelled;
  const deleted = await steps.each(duplicates, {
    toBe: 'deleted',
    effectOf: ({ metadata: { namespace = '', name, uid, resourceVersion } }) =>
      buildRevisionDelete({ namespace, name, uid, resourceVersion }),
    isLeft: isGone,
  });
  const renumber = {
    toBe: 'renumbered',
    effectOf: (revision: KubernetesObject) => buildRenumbering(daemonSet, revision, nextNumber),
  };
  const failure = deleted ?? (await steps.each(plan.isRenumbered ? [current] : [], renumber));
  if (failure !== undefined) return failure;
  const podsWritten = relabelled.written;
  const latest = steps.latest(current);
  return { kind: 'done', current: latest, hasWritten: true, ...defined({ podsWritten }) };
}

/** The DaemonSet live: what is written follows from this template and no other. */
async function confirmPresent(writing: Step): Promise<HistoryFailure | undefined> {
  const confirmation = await confirmForHistory(writing);
  if (confirmation.kind === 'failed') return confirmation;
  if (!isEdited(confirmation.object, writing.subject.daemonSet)) return undefined;
  const message = 'the DaemonSet was edited since it was seen';
  return { kind: 'failed', code: 'daemon-set-changed', message };
}

/** Sends one request at a time, and keeps what came back. */
class HistorySteps {
  readonly writing: Step;
  readonly #latest = new Map<string, KubernetesObject>();

  constructor(writing: Step) {
    this.writing = writing;
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
    if (!mayContinue(this.writing.context)) {
      return { kind: 'unsent', message: 'the time of this run is over' };
    }
    const outcome = await sendOne(effect, this.writing);
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

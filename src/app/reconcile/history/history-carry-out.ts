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
import type { Step } from '../run/context.ts';
import type { Outcome, Effect } from '../../../core/model/effects.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import {
  buildHashRepair,
  buildRenumbering,
  buildRevisionAdoption,
  buildRevisionDelete,
  buildRevisionRelease,
} from '../../../core/history/history-patches.ts';
import { changesHistory } from '../../../core/history/history-plan.ts';
import type { HistoryPlan } from '../../../core/history/history-plan.ts';
import { effectDeadlineMs, mayContinue } from '../run/context.ts';
import { createRevision } from './history-create.ts';
import { historyFailure } from './history-result.ts';
import type { HistoryEnd, HistoryFailure } from './history-result.ts';
import { confirmSubject, isEdited } from '../confirm/live-daemon-set.ts';
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

/** One revision of the present template, and that one the newest. */
async function arrange(
  plan: HistoryPlan,
  current: KubernetesObject,
  steps: HistorySteps,
): Promise<HistoryEnd> {
  const { duplicates } = plan;
  const relabelled = await relabelPods({ kept: current, duplicates }, steps.writing);
  if (relabelled.kind !== 'relabelled') return relabelled;
  const failure = (await deduplicate(plan, steps)) ?? (await renumber(plan, steps));
  if (failure !== undefined) return failure;
  const { written } = relabelled;
  return {
    kind: 'done',
    current: steps.latest(current),
    hasWritten: true,
    ...(written === undefined ? {} : { podsWritten: written }),
  };
}

/** The DaemonSet live: what is written follows from this template and no other. */
async function confirmPresent(writing: Step): Promise<HistoryFailure | undefined> {
  const { subject } = writing;
  const confirmation = await confirmSubject(writing);
  if (confirmation.kind === 'unavailable') {
    return { ...confirmation, kind: 'failed', code: 'history' };
  }
  const { daemonSet } = subject;
  if (confirmation.kind === 'changed') {
    return { kind: 'failed', code: 'daemon-set-changed', message: confirmation.message };
  }
  if (!isEdited(confirmation.object, daemonSet)) return undefined;
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

  get daemonSet(): DaemonSetObject {
    return this.writing.subject.daemonSet;
  }

  /** The revision as the last of our writes left it. */
  latest(revision: KubernetesObject): KubernetesObject {
    return this.#latest.get(revision.metadata.uid) ?? revision;
  }

  async send(revision: KubernetesObject, effect: Effect): Promise<Outcome> {
    const { context, access } = this.writing;
    if (!mayContinue(context)) return { kind: 'unsent', message: 'the time of this run is over' };
    const [outcome] = await access.execute([effect], { deadlineMs: effectDeadlineMs(context) });
    if (outcome?.kind === 'done' && effect.kind === 'patch') {
      const object = outcome.object as unknown as KubernetesObject; // the answer is the revision
      this.#latest.set(revision.metadata.uid, object);
    }
    return outcome ?? { kind: 'ambiguous', message: 'no outcome' };
  }
}

type ClaimFailure = Extract<HistoryEnd, { kind: 'failed' | 'unadoptable' }>;

/** Releases, adoptions, repaired hashes. */
async function claim(plan: HistoryPlan, steps: HistorySteps): Promise<ClaimFailure | undefined> {
  return (
    (await release(plan, steps)) ?? (await adopt(plan, steps)) ?? (await repairHashes(plan, steps))
  );
}

/** An answer "not found" or "invalid" means that another writer was faster (spec 2.4). */
async function release(
  plan: HistoryPlan,
  steps: HistorySteps,
): Promise<HistoryFailure | undefined> {
  for (const revision of plan.releases) {
    const outcome = await steps.send(revision, buildRevisionRelease(steps.daemonSet, revision));
    const isLeft = outcome.kind === 'done' || outcome.kind === 'gone' || isInvalid(outcome);
    if (!isLeft) return failureOf(revision, 'released', outcome);
  }
  return undefined;
}

async function adopt(plan: HistoryPlan, steps: HistorySteps): Promise<ClaimFailure | undefined> {
  const { daemonSet } = steps;
  for (const revision of plan.adopts) {
    const isSame = revision === plan.current || plan.duplicates.includes(revision);
    const content = isSame ? 'present-template' : 'other-template';
    const outcome = await steps.send(revision, buildRevisionAdoption(daemonSet, revision, content));
    if (isInvalid(outcome)) return { kind: 'unadoptable', uid: revision.metadata.uid };
    if (outcome.kind !== 'done') return failureOf(revision, 'adopted', outcome);
  }
  return undefined;
}

async function repairHashes(
  plan: HistoryPlan,
  steps: HistorySteps,
): Promise<HistoryFailure | undefined> {
  for (const revision of plan.labels) {
    const outcome = await steps.send(revision, buildHashRepair(steps.latest(revision)));
    if (outcome.kind !== 'done') return failureOf(revision, 'labelled', outcome);
  }
  return undefined;
}

function isInvalid(outcome: Outcome): boolean {
  return outcome.kind === 'refused' && outcome.code === 'invalid';
}

async function deduplicate(
  plan: HistoryPlan,
  steps: HistorySteps,
): Promise<HistoryFailure | undefined> {
  for (const revision of plan.duplicates) {
    const { metadata } = steps.latest(revision);
    const { namespace = '', name, uid, resourceVersion } = metadata;
    const effect = buildRevisionDelete({ namespace, name, uid, resourceVersion });
    const outcome = await steps.send(revision, effect);
    const isGone = outcome.kind === 'done' || outcome.kind === 'gone';
    if (!isGone) return failureOf(revision, 'deleted', outcome);
  }
  return undefined;
}

async function renumber(
  plan: HistoryPlan,
  steps: HistorySteps,
): Promise<HistoryFailure | undefined> {
  const { current, nextNumber } = plan;
  if (!plan.isRenumbered || current === undefined) return undefined;
  const effect = buildRenumbering(steps.daemonSet, steps.latest(current), nextNumber);
  const outcome = await steps.send(current, effect);
  return outcome.kind === 'done' ? undefined : failureOf(current, 'renumbered', outcome);
}

function failureOf({ metadata }: KubernetesObject, what: string, outcome: Outcome): HistoryFailure {
  return historyFailure(outcome, `revision ${metadata.name} could not be ${what}`);
}

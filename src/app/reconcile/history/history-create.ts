/**
 * Makes the revision of the present template, and resolves collisions of its name (spec 2.10, snapshot).
 *
 *   create ── AlreadyExists ── live GET ── ours, same content ──▶ it is the current one
 *                                 └─ anything else ── live DaemonSet of the same collisionCount ──▶ raise it, look again
 *
 * Name and content follow from each other, so two runs ask for the same. The status write changes one number (S7).
 * Differs from upstream: a revision of that name and content counts only if it is ours (S10).
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Step } from '../run/context.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { jsonMember } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { holdsTemplate } from '../../../core/history/history-match.ts';
import { controllerUidOf } from '../../../core/pod/owner.ts';
import { buildRevision, revisionHash } from '../../../core/history/revisions.ts';
import { keyOf, sendOne, versionOf } from '../run/context.ts';
import { statusBody } from '../status/write-status.ts';
import { historyFailure, unreadable } from './history-result.ts';
import type { HistoryEnd, HistoryFailure, HistoryPause } from './history-result.ts';
import { confirmDaemonSet, unconfirmedCode } from '../confirm/live-daemon-set.ts';
import type { DaemonSetConfirmation } from '../confirm/live-daemon-set.ts';

/** Creates the revision of this number, or finds that it is there. */
export async function createRevision(number: number, writing: Step): Promise<HistoryEnd> {
  const { input, access } = writing;
  const { daemonSet } = input;
  const namespace = daemonSet.metadata.namespace ?? '';
  const hash = revisionHash(daemonSet, daemonSet.status?.collisionCount ?? 0);
  const body = buildRevision(daemonSet, { hash, revision: number });
  const name = nameOf(body);
  const effect = { kind: 'create-revision' as const, namespace, name, body };
  const outcome = await sendOne(effect, writing);
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
  return raiseCollisionCount(name, writing);
}

async function raiseCollisionCount(
  taken: string,
  writing: Step,
): Promise<HistoryPause | HistoryFailure> {
  const { input } = writing;
  const confirmation = await confirmForHistory(writing);
  if (confirmation.kind === 'failed') return confirmation;
  const live = confirmation.object;
  const count = live.status?.collisionCount ?? 0;
  if (count !== (input.daemonSet.status?.collisionCount ?? 0)) {
    return again('the collisionCount that was seen is behind');
  }
  return writeCollisionCount({ live, count: count + 1, taken }, writing);
}

/** The DaemonSet as it is live, or the failure that its absence is. */
export async function confirmForHistory(
  writing: Step,
): Promise<Extract<DaemonSetConfirmation, { kind: 'confirmed' }> | HistoryFailure> {
  const confirmation = await confirmDaemonSet(writing);
  if (confirmation.kind === 'confirmed') return confirmation;
  if (confirmation.kind === 'unavailable') return unreadable(confirmation);
  return { kind: 'failed', code: unconfirmedCode(confirmation), message: confirmation.message };
}

async function writeCollisionCount(
  step: { readonly live: DaemonSetObject; readonly count: number; readonly taken: string },
  writing: Step,
): Promise<HistoryPause | HistoryFailure> {
  const { live, count, taken } = step;
  const { uid } = writing.input.stored.ref;
  const body = withCollisionCount(live, count);
  const effect = { kind: 'update-status' as const, ...keyOf(writing.context), uid, body };
  const outcome = await sendOne(effect, writing);
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

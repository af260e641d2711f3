/**
 * Makes the revision of the present template, and resolves collisions of its name (spec 2.10, snapshot).
 *
 *   create ── AlreadyExists ── live GET ── ours, same content ──▶ it is the current one
 *                                 └─ anything else ── live DaemonSet
 *                                       ├─ another collisionCount ──▶ look again
 *                                       └─ the same ── status PUT: collisionCount + 1 ──▶ look again
 *
 * The name follows from content and collisionCount, so two runs ask for the same. The status write
 * carries the version that was read; nothing else of the status is changed (S7).
 *
 * Differs from upstream: a revision of that name and content counts only if it is ours (S10).
 */
import type { Step } from '../run/context.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { jsonMember } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { holdsTemplate } from '../../../core/history/history-match.ts';
import { controllerUidOf } from '../../../core/pod/owner.ts';
import { buildRevision, revisionHash } from '../../../core/history/revisions.ts';
import { versionOf } from '../confirm/adopt-release.ts';
import { effectDeadlineMs } from '../run/context.ts';
import { historyFailure } from './history-result.ts';
import type { HistoryEnd, HistoryFailure, HistoryPause } from './history-result.ts';
import { confirmSubject } from '../confirm/live-daemon-set.ts';

/** Creates the revision of this number, or finds that it is there. */
export async function createRevision(number: number, writing: Step): Promise<HistoryEnd> {
  const { context, subject, access } = writing;
  const { daemonSet } = subject;
  const namespace = daemonSet.metadata.namespace ?? '';
  const hash = revisionHash(daemonSet, daemonSet.status?.collisionCount ?? 0);
  const body = buildRevision(daemonSet, { hash, revision: number });
  const name = nameOf(body);
  const effect = { kind: 'create-revision' as const, namespace, name, body };
  const [outcome] = await access.execute([effect], { deadlineMs: effectDeadlineMs(context) });
  if (outcome?.kind === 'done') {
    const current = outcome.object as unknown as KubernetesObject; // the answer is the revision
    return { kind: 'done', current, hasWritten: true };
  }
  if (outcome?.kind !== 'exists') {
    return historyFailure(outcome, `revision ${name} could not be created`);
  }
  const live = await access.getRevision({ namespace, name });
  if (live.kind === 'unavailable') return { ...live, kind: 'failed', code: 'history' };
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
  const { subject } = writing;
  const confirmation = await confirmSubject(writing);
  if (confirmation.kind === 'unavailable') {
    return { ...confirmation, kind: 'failed', code: 'history' };
  }
  if (confirmation.kind === 'changed') {
    return { kind: 'failed', code: 'daemon-set-changed', message: confirmation.message };
  }
  const live = confirmation.object;
  const count = live.status?.collisionCount ?? 0;
  if (count !== (subject.daemonSet.status?.collisionCount ?? 0)) {
    return again('the collisionCount that was seen is behind');
  }
  return writeCollisionCount({ live, count: count + 1, taken }, writing);
}

async function writeCollisionCount(
  step: { readonly live: DaemonSetObject; readonly count: number; readonly taken: string },
  { context, subject, access }: Step,
): Promise<HistoryPause | HistoryFailure> {
  const { live, count, taken } = step;
  const { namespace = '', name } = live.metadata;
  const body = withCollisionCount(live, count);
  const [outcome] = await access.execute(
    [{ kind: 'update-status', namespace, name, uid: subject.basis.ref.uid, body }],
    { deadlineMs: effectDeadlineMs(context) },
  );
  if (outcome?.kind === 'conflict') return again('the DaemonSet changed while its name collided');
  if (outcome?.kind !== 'done') {
    return historyFailure(outcome, 'collisionCount could not be raised');
  }
  const version = versionOf(outcome);
  const message = `the name ${taken} is taken: collisionCount is ${count} now`;
  return { ...again(message), ...(version === undefined ? {} : { daemonSetWritten: version }) };
}

/** The live object with one number changed: a status write replaces the whole status. */
function withCollisionCount(live: DaemonSetObject, collisionCount: number): JsonObject {
  const { managedFields: _dropped, ...metadata } = live.metadata as typeof live.metadata & {
    readonly managedFields?: unknown;
  };
  const counters = {
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0,
  };
  const status = { ...counters, ...live.status, collisionCount };
  const body = { ...live, apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, status };
  return body as unknown as JsonObject; // a typed view of raw JSON is that raw JSON again
}

function again(message: string): HistoryPause {
  return { kind: 'look-again', message };
}

function nameOf(body: JsonObject): string {
  const name = jsonMember(body['metadata'], 'name');
  if (typeof name !== 'string') throw new Error('a revision was built without a name');
  return name;
}

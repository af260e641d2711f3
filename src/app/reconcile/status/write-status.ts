/**
 * Writes the status over the DaemonSet as it is now (protocol 8, S7): counts by one patch, else read, compare, PUT.
 *
 * A conflict says only that something was written, perhaps a label: each of three tries compares the content again, so counts
 * are never written over what contradicts them. The whole object is sent, as a PUT replaces labels and annotations too.
 * Differs from upstream: a conflict is tried again only after that look at the content; spec 2.12 repeats the same counts.
 */
import { defined } from '@rollcall/base/defined.ts';
import { findStatusBreach } from '../../../core/plan/invariants.ts';
import { canonicalJson, type JsonObject } from '@rollcall/base/json.ts';
import type { Outcome } from '../../../core/model/effects.ts';
import type { ResourceVersion } from '../../../core/model/identifiers.ts';
import type { DaemonSetObject, DaemonSetStatus } from '@rollcall/base/objects.ts';
import { keyOf, versionOf, type Step, type ReconcileInput } from '../run/context.ts';
import { readPresent, type PlannedMissing } from '../confirm/live-daemon-set.ts';
import { statusPatch } from '../../../core/status/status-patch.ts';
import { isStoreRestored } from '../../../core/view/freshness.ts';

/** Writes of other clients between read and write that one run puts up with. */
const TRIES_MAX = 3;

export type StatusWrite =
  | {
      readonly kind: 'written';
      readonly version: ResourceVersion | undefined;
      /** As the API server has it now, with managedFields. */
      readonly object: JsonObject;
      /** By the API server's clock; absent: it did not say. */
      readonly answeredAtMs?: number;
      /** True if nothing but the status differs from the object that was seen. */
      readonly isAsSeen: boolean;
    }
  | PlannedMissing;

/** The status that is to stand on the live DaemonSet; undefined: not on this one. */
export type StatusFor = (live: DaemonSetObject) => DaemonSetStatus | undefined;

/** PUT of a status over the live DaemonSet, as long as `statusFor` has one for it. */
export async function writeStatus(statusFor: StatusFor, step: Step): Promise<StatusWrite> {
  for (let tries = 1; ; tries += 1) {
    const found = await readPresent(step);
    if (found.kind !== 'found') return found;
    const status = statusFor(found.object);
    if (status === undefined) return { kind: 'conflict' };
    const write = await putStatus({ live: found.object, status }, step);
    if (write.kind !== 'conflict' || tries === TRIES_MAX) return write;
  }
}

/** Why this status must not stand there; it was told. */
function reportBreach(
  { live, status }: { readonly live: DaemonSetObject; readonly status: DaemonSetStatus },
  { context }: Step,
): Extract<StatusWrite, { kind: 'failed' }> | undefined {
  const breach = findStatusBreach(live, status);
  if (breach === undefined) return undefined;
  context.assertions.report(breach);
  return { kind: 'failed', message: `${breach.invariant}: ${breach.message}` };
}

async function putStatus(
  { live, status }: { readonly live: DaemonSetObject; readonly status: DaemonSetStatus },
  step: Step,
): Promise<StatusWrite> {
  const breach = reportBreach({ live, status }, step);
  if (breach !== undefined) return breach;
  const { context, input, access } = step;
  const body = statusBody(live, status);
  const [outcome] = await access.execute(
    [{ kind: 'update-status', ...keyOf(context), uid: input.stored.ref.uid, body }],
    { deadlineMs: context.run.deadlineMs },
  );
  return statusWriteOf(outcome, () => isSameButStatus(live, input.daemonSet));
}

function statusWriteOf(outcome: Outcome | undefined, isAsSeen: () => boolean): StatusWrite {
  switch (outcome?.kind) {
    case 'done': {
      const { object, answeredAtMs } = outcome;
      const version = versionOf(outcome);
      const isSeen = isAsSeen();
      return { kind: 'written', version, object, isAsSeen: isSeen, ...defined({ answeredAtMs }) };
    }
    case 'conflict':
      return { kind: 'conflict' };
    case 'gone':
      return { kind: 'gone' };
    case 'unsent':
      return { ...outcome, kind: 'failed' };
    case 'refused':
      return { kind: 'failed', message: outcome.message, isRefused: true };
    case 'ambiguous':
      return { kind: 'failed', message: outcome.message };
    case 'exists':
    case undefined:
      return { kind: 'failed', message: 'no outcome' };
  }
}

/** The live object with another status, as a status write sends it: whole, and without who manages its fields. */
export function statusBody(live: DaemonSetObject, status: DaemonSetStatus): JsonObject {
  const body = { ...withoutManagers(live), apiVersion: 'apps/v1', kind: 'DaemonSet', status };
  return body as unknown as JsonObject; // a typed view of raw JSON is that raw JSON again
}

function withoutManagers(object: DaemonSetObject): DaemonSetObject {
  const { managedFields: _dropped, ...metadata } =
    object.metadata as DaemonSetObject['metadata'] & {
      readonly managedFields?: unknown;
    };
  return { ...object, metadata };
}

/** One version is one object; with two, all that the watcher compares, and the status, must agree. */
function isSameButStatus(live: DaemonSetObject, seen: DaemonSetObject): boolean {
  if (live.metadata.resourceVersion === seen.metadata.resourceVersion) return true;
  return contentOf(live) === contentOf(seen);
}

function contentOf(object: DaemonSetObject): string {
  const { metadata, ...rest } = withoutManagers(object);
  const { resourceVersion: _version, ...kept } = metadata;
  const whole = { ...rest, apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: kept };
  return canonicalJson(whole as unknown as JsonObject); // raw JSON
}

// Counts take one request (ADR 0031): a JSON Patch whose tests are what was seen. An answer from behind what was seen
// means that etcd was restored: it ends like a conflict. Differs from upstream, which sends the whole object.

/**
 * The counts over the DaemonSet as it was seen, in one request; by read and PUT where that is not what it is any more, or
 * cannot be patched.
 */
export async function writeCounts(statusFor: StatusFor, step: Step): Promise<StatusWrite> {
  const tried = await tryPatch(statusFor, step);
  if (tried.kind !== 'unfit' && tried.kind !== 'forbidden') return tried;
  if (tried.kind === 'forbidden') {
    const { clock, cache } = step.context.dependencies;
    cache.statusPatches.noteRefused(step.input.stored.meta.clusterUid, clock.monotonicMs());
  }
  return writeStatus(statusFor, step);
}

type PatchTry =
  | StatusWrite
  /** It was not sent, or the DaemonSet is another one than was seen. */
  | { readonly kind: 'unfit' }
  /** Patches are refused; a PUT may not be. */
  | { readonly kind: 'forbidden' };

async function tryPatch(statusFor: StatusFor, step: Step): Promise<PatchTry> {
  const { context, input, access } = step;
  const { daemonSet: seen, stored } = input;
  const { clock, cache } = context.dependencies;
  if (!cache.statusPatches.mayPatch(stored.meta.clusterUid, clock.monotonicMs())) {
    return { kind: 'unfit' };
  }
  const status = statusFor(seen);
  if (status === undefined) return { kind: 'unfit' };
  const body = statusPatch(seen, status);
  if (body === undefined) return { kind: 'unfit' };
  const breach = reportBreach({ live: seen, status }, step);
  if (breach !== undefined) return breach;
  const [outcome] = await access.execute(
    [{ kind: 'update-status', ...keyOf(context), uid: stored.ref.uid, body }],
    { deadlineMs: context.run.deadlineMs },
  );
  switch (outcome?.kind) {
    case 'conflict':
      return { kind: 'unfit' };
    case 'refused': // 422 is a test that failed, among others
      return { kind: outcome.code === 'invalid' ? 'unfit' : 'forbidden' };
    default: {
      const write = statusWriteOf(outcome, () => true);
      const isLost = write.kind === 'written' && isOfLostStore(write.version, input);
      return isLost ? { kind: 'conflict' } : write;
    }
  }
}

/** An answer from behind what was seen: etcd was restored, and what was counted is of a lost history (row 71). */
function isOfLostStore(version: ResourceVersion | undefined, { stored }: ReconcileInput): boolean {
  return isStoreRestored(version, { meta: stored.meta, written: stored.state?.written });
}

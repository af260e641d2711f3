/**
 * Finds other writers of a DaemonSet's status by metadata.managedFields: a suspicion that comes with every live read, and no proof.
 *
 * An API server takes managedFields from a request as they are: a client that may patch the object writes any manager and any
 * time into them. So an entry pauses its own DaemonSet and has the sentinel looked at, which alone stops a cluster. It
 * counts if another manager than ours made it by an update of the subresource `status`, if it holds a counter or
 * observedGeneration, and if it is younger than the takeover, no older than the pause is long, and not ahead of the API
 * server. So a loop that goes on writing goes on pausing, and one write does so once.
 *
 * Not detected: a rival that writes an equal status, whose counters we have written over, that acts on pods only,
 * shares our manager's name, or writes within the second of entering takeover. The sentinel sees the built-in loop
 * in all these.
 */
import { isJsonObject, type Json } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Guard } from '../model/plan.ts';
import type { ClusterRegistration } from '../model/registration.ts';
import type { StatusPause } from '../model/state.ts';
import { OWN_MEMBERS } from './status.ts';

/** For how long a status of another client pauses its DaemonSet. */
export const PAUSE_MS = 600_000;

/** As long as an API server lets one be; what it chose to send is bounded all the same. */
const MANAGER_CHARACTERS_MAX = 128;

/** How kubectl calls itself (kubectl-patch, kubectl-edit …): a person, whose status the next run corrects. */
const PERSON_PATTERN = /^kubectl/;

/** Under which manager the API server notes our writes: the user agent of the functions. */
const OWN_MANAGER = 'rollcall';

export interface AnswerTimes {
  /** When takeover was entered; undefined: unknown, and nothing counts. */
  readonly sinceMs: number | undefined;
  /** When it answered, by its own clock. */
  readonly answeredAtMs: number;
  readonly nowMs: number;
}

/** The pause that follows from the newest status of another writer; undefined when there is none that counts. */
export function findStatusPause(
  { metadata }: KubernetesObject,
  { sinceMs = Infinity, answeredAtMs, nowMs }: AnswerTimes,
): StatusPause | undefined {
  const { managedFields } = metadata as { readonly managedFields?: unknown };
  if (!Array.isArray(managedFields)) return undefined;
  let newest: StatusPause | undefined;
  for (const entry of managedFields as readonly Json[]) {
    const write = foreignWrite(entry);
    if (write === undefined) continue;
    const { manager, atMs } = write;
    const leftMs = atMs + PAUSE_MS - answeredAtMs;
    const isCounted = atMs > sinceMs && atMs <= answeredAtMs && leftMs > 0;
    if (isCounted && atMs > (newest?.atMs ?? 0))
      newest = { manager, atMs, untilMs: nowMs + leftMs };
  }
  return newest;
}

/**
 * The guard of a DaemonSet that a run found paused. None is left of a pause whose end is twice as far away as any can be (a
 * clock that was ahead wrote it), or that is of an earlier takeover.
 */
export function guardOfPause(
  paused: StatusPause | undefined,
  { mode, sentinel }: ClusterRegistration,
  nowMs: number,
): Guard | undefined {
  if (paused === undefined || mode !== 'takeover') return undefined;
  const isOver = paused.untilMs <= nowMs || paused.untilMs > nowMs + 2 * PAUSE_MS;
  if (isOver || paused.atMs <= (sentinel?.createdAtMs ?? Infinity)) return undefined;
  return { kind: 'observe', code: 'conflict-suspected', message: pauseText(paused) };
}

/** Names the writer of the status, the time, the meaning and the remedy. */
export function pauseText({ manager, atMs }: StatusPause): string {
  const at = new Date(atMs).toISOString().slice(0, 19);
  return (
    `The field manager "${manager}" wrote this DaemonSet's status at ${at}Z (metadata.managedFields), and in takeover ` +
    'only Rollcall does. Rollcall creates, deletes and counts no pods of this DaemonSet until ten minutes after the last ' +
    'such write; other DaemonSets go on. If a second controller runs, stop it. If a client only wrote that entry, ' +
    'nothing has to be done.'
  );
}

function foreignWrite(entry: Json): Pick<StatusPause, 'manager' | 'atMs'> | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { manager, operation, subresource, time, fieldsV1 } = entry;
  if (subresource !== 'status' || operation !== 'Update') return undefined;
  if (typeof manager !== 'string' || manager === OWN_MANAGER) return undefined;
  if (PERSON_PATTERN.test(manager) || typeof time !== 'string') return undefined;
  const atMs = Date.parse(time);
  if (Number.isNaN(atMs) || !holdsCounter(fieldsV1)) return undefined;
  return { manager: manager.slice(0, MANAGER_CHARACTERS_MAX), atMs };
}

function holdsCounter(fields: Json | undefined): boolean {
  const status = isJsonObject(fields) ? fields['f:status'] : undefined;
  if (!isJsonObject(status)) return false;
  return OWN_MEMBERS.some((field) => status[`f:${field}`] !== undefined);
}

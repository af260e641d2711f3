/**
 * Brings one mirror object up to a record: read, then the object, then its status, each only where it differs.
 *
 * Two processes may show one fleet at the same time: every write carries the version that was read, and who finds a later
 * record shown leaves it. The status goes last, under the generation that the write of the object was answered with: until then
 * tools take it for not observed.
 */
import { isJsonObject, isSameJson, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import {
  formerConditions,
  mirrorObject,
  mirrorStatus,
} from '../../../core/fleet/told/mirror-object.ts';
import type { MirrorAccess, MirrorWrite } from '../../../ports/cluster/mirror-access.ts';

/** What came of it. */
export type MirrorShown =
  /** It is as the record says, or later. */
  | { readonly kind: 'shown'; readonly writes: number }
  | Exclude<MirrorWrite, { readonly kind: 'written' }>;

/** Shows a record. */
export async function writeMirror(
  record: FleetRecord,
  mirrors: MirrorAccess,
  nowMs: number,
): Promise<MirrorShown> {
  const read = await mirrors.readMirror(record);
  if (read.kind === 'unavailable') {
    const { isRefused, message } = read;
    return { kind: isRefused ? 'refused' : 'unavailable', message };
  }
  const live = read.kind === 'found' ? read.object : undefined;
  if (live !== undefined && isLater(live, record)) return { kind: 'shown', writes: 0 };
  const wanted = mirrorObject(record);
  const isSame = live !== undefined && isSameJson(live['spec'], wanted['spec']);
  const object: MirrorWrite = isSame
    ? { kind: 'written', object: live }
    : await mirrors.applyMirror(withVersion(wanted, live), 'object');
  if (object.kind !== 'written') return object;
  const status = mirrorStatus(record, {
    former: formerConditions(object.object),
    observedGeneration: generationOf(object.object),
    nowMs,
  });
  const writes = isSame ? 0 : 1;
  if (saysTheSame(object.object['status'], status['status'])) return { kind: 'shown', writes };
  const written = await mirrors.applyMirror(withVersion(status, object.object), 'status');
  return written.kind === 'written' ? { kind: 'shown', writes: writes + 1 } : written;
}

/** Removes the mirror of a FleetDaemonSet that is gone; one of another uid under its name stays. */
export async function removeMirror(
  fleet: Pick<FleetRecord, 'namespace' | 'name' | 'uid'>,
  mirrors: MirrorAccess,
): Promise<MirrorShown> {
  const read = await mirrors.readMirror(fleet);
  if (read.kind === 'missing') return { kind: 'shown', writes: 0 };
  if (read.kind === 'unavailable') {
    return { kind: read.isRefused ? 'refused' : 'unavailable', message: read.message };
  }
  if (jsonMember(read.object['spec'], 'uid') !== fleet.uid) return { kind: 'shown', writes: 0 };
  const removed = await mirrors.removeMirror(read.object);
  return removed.kind === 'written' ? { kind: 'shown', writes: 1 } : removed;
}

/** Of the same FleetDaemonSet, with a newer record. */
function isLater(live: JsonObject, record: FleetRecord): boolean {
  const version = jsonMember(live['status'], 'recordVersion');
  const isOurs = jsonMember(live['spec'], 'uid') === record.uid;
  return isOurs && typeof version === 'number' && version > record.version;
}

/** A record that only falls due later has another version, and nothing to tell. */
function saysTheSame(live: Json | undefined, wanted: Json | undefined): boolean {
  const told = (status: Json | undefined): Json | undefined =>
    isJsonObject(status) ? { ...status, recordVersion: 0 } : status;
  return isSameJson(told(live), told(wanted));
}

function withVersion(object: JsonObject, live: JsonObject | undefined): JsonObject {
  const resourceVersion = jsonMember(live?.['metadata'], 'resourceVersion');
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  return typeof resourceVersion === 'string'
    ? { ...object, metadata: { ...metadata, resourceVersion } }
    : object;
}

function generationOf(object: JsonObject): number {
  const generation = jsonMember(object['metadata'], 'generation');
  return typeof generation === 'number' ? generation : 0;
}

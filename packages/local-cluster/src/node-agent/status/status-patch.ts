/**
 * The strategic merge patch that turns one pod status into another, as the kubelet sends it (spec node-agent 4c):
 * metadata.uid as a fence, changed fields only, conditions and addresses merged by their keys, everything else
 * replaced. Pure.
 *
 * A field that only the agent writes is removed when it is absent; any other absent field belongs to somebody else and
 * stays. No difference is no patch at all, so that nothing is written when nothing changed. There is no fence on
 * resourceVersion: writers of other fields do not make it fail.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { isEqualJson } from '../shared/equal-json.ts';
import type { Condition, PodStatus } from '../shared/pod-object.ts';

/** Fields that only the node agent writes, so that their absence means removal. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'reason',
  'message',
  'podIP',
  'podIPs',
  'initContainerStatuses',
]);

/** The patch; undefined when nothing differs. */
export function statusPatch(input: {
  readonly uid: string;
  readonly before: PodStatus;
  readonly after: PodStatus;
}): JsonObject | undefined {
  const { before, after } = input;
  const status: Record<string, Json> = {};
  Object.assign(status, conditionsPatch(before.conditions ?? [], after.conditions ?? []));
  for (const [key, value] of Object.entries(after)) {
    if (key === 'conditions' || value === undefined || isEqualJson(before[key], value)) continue;
    const isMerged = key === 'podIPs' || key === 'hostIPs';
    status[key] = isMerged ? addressesPatch(before[key], value) : value;
  }
  for (const key of removedKeys(before, after)) if (OWN_FIELDS.has(key)) status[key] = null;
  if (Object.keys(status).length === 0) return undefined;
  return { metadata: { uid: input.uid }, status };
}

function conditionsPatch(
  before: readonly Condition[],
  after: readonly Condition[],
): Record<string, Json> {
  const changed = after.flatMap((condition) => {
    const known = before.find(({ type }) => type === condition.type);
    if (known === undefined) return [condition];
    return isEqualJson(known, condition) ? [] : [withRemovals(known, condition)];
  });
  const gone = before
    .filter(({ type }) => !after.some((condition) => condition.type === type))
    .map(({ type }) => ({ $patch: 'delete', type }));
  if (changed.length + gone.length === 0) return {};
  return {
    '$setElementOrder/conditions': after.map(({ type }) => ({ type })),
    conditions: [...changed, ...gone],
  };
}

/** Merging keeps what is not mentioned, so what goes must be named. */
function withRemovals(before: Condition, after: Condition): JsonObject {
  const removed = removedKeys(before, after);
  return { ...Object.fromEntries(removed.map((key) => [key, null])), ...after };
}

function removedKeys(before: JsonObject, after: JsonObject): readonly string[] {
  return Object.keys(before).filter(
    (key) => (before[key] ?? null) !== null && after[key] === undefined,
  );
}

function addressesPatch(before: Json | undefined, after: Json): Json {
  const kept = Array.isArray(after) ? (after as readonly JsonObject[]) : [];
  const known = Array.isArray(before) ? (before as readonly JsonObject[]) : [];
  const gone = known.filter((address) => !kept.some(({ ip }) => ip === address['ip']));
  return [...kept, ...gone.map(({ ip }) => ({ $patch: 'delete', ip: ip ?? '' }))];
}

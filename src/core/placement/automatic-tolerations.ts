/**
 * The tolerations that every daemon pod gets (spec 2.6), for the decision and for the created pod.
 *
 * All have operator Exists and no seconds. A toleration of the template with identical key, effect,
 * operator and value is replaced, so its tolerationSeconds is lost; everything else is kept in place.
 */
import type { PodSpec, TaintEffect, Toleration } from '@rollcall/base/objects.ts';

function exists(key: string, effect: TaintEffect): Toleration {
  return { key: `node.kubernetes.io/${key}`, operator: 'Exists', effect };
}

const ALWAYS: readonly Toleration[] = [
  exists('not-ready', 'NoExecute'),
  exists('unreachable', 'NoExecute'),
  exists('disk-pressure', 'NoSchedule'),
  exists('memory-pressure', 'NoSchedule'),
  exists('pid-pressure', 'NoSchedule'),
  exists('unschedulable', 'NoSchedule'),
];

const WITH_HOST_NETWORK = exists('network-unavailable', 'NoSchedule');

/** The template's tolerations with the automatic ones replaced or appended (spec 2.6). */
export function withAutomaticTolerations(spec: PodSpec): readonly Toleration[] {
  const automatic = spec.hostNetwork === true ? [...ALWAYS, WITH_HOST_NETWORK] : ALWAYS;
  return automatic.reduce(addOrReplace, spec.tolerations ?? []);
}

function addOrReplace(list: readonly Toleration[], added: Toleration): readonly Toleration[] {
  if (!list.some((toleration) => isSame(toleration, added))) return [...list, added];
  return list.map((toleration) => (isSame(toleration, added) ? added : toleration));
}

/** The automatic ones have no value. */
function isSame(existing: Toleration, automatic: Toleration): boolean {
  return (
    existing.key === automatic.key &&
    existing.effect === automatic.effect &&
    existing.operator === automatic.operator &&
    (existing.value ?? '') === ''
  );
}

/**
 * Selectors that overlap: whose are pods that nobody controls? With two DaemonSets that select them, whoever looks
 * first takes them, on either side: no comparison can say more. With one it is decided. Pure.
 */
import type { KubernetesObject } from '../conformance/control-plane/api.ts';
import type { Step } from './scenario.ts';
import { SET_NAMES } from './set-spec.ts';

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly values?: readonly string[] }[];
}

/** Which values of `app` a DaemonSet of a scenario selects. */
function selectedApps(daemonSet: KubernetesObject): readonly string[] {
  const { selector = {} } = daemonSet['spec'] as { readonly selector?: Selector };
  const { matchLabels, matchExpressions } = selector;
  const own = matchLabels?.['app'];
  return own === undefined ? (matchExpressions?.[0]?.values ?? []) : [own];
}

/** The values of `app` that a set will select once it is made. */
export function appsOfNew(
  step: Extract<Step, { readonly op: 'set-create' | 'set-remake' }>,
): readonly string[] {
  return step.form.selector === 'shared' ? SET_NAMES : [step.set];
}

/** True if the step leaves pods, or revisions, that two DaemonSets would take. */
export function leavesToWhoeverIsFirst(
  step: Step,
  daemonSets: readonly KubernetesObject[],
): boolean {
  if (!('set' in step)) return false;
  const takersOf = (sets: readonly KubernetesObject[]): number =>
    sets.filter((it) => selectedApps(it).includes(step.set)).length;
  const others = daemonSets.filter(({ metadata }) => metadata.name !== step.set);
  switch (step.op) {
    case 'pod-orphan':
    case 'pod-reclaim':
      return takersOf(daemonSets) > 1;
    case 'set-delete':
      return step.propagation === 'Orphan' && takersOf(others) > 1;
    case 'set-remake':
      return step.propagation === 'Orphan' && takersOf(others) > 0;
    default:
      return false;
  }
}

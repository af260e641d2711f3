/**
 * The conditions of a terminating namespace, in the words of the namespace controller. Pure.
 *
 * All five are always there; what is fine is False with a reason that says so. A condition's time changes with its
 * status only.
 */
import type { Condition } from '../shared/object-views.ts';
import { conditionOf } from '../shared/object-views.ts';
import type { NamespaceContent } from './namespace-content.ts';

interface Wanted {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** Discovery cannot fail here: the resources are known. */
const ALWAYS_FINE: readonly Wanted[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    status: 'False',
    reason: 'ResourcesDiscovered',
    message: 'All resources successfully discovered',
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    status: 'False',
    reason: 'ParsedGroupVersions',
    message: 'All legacy kube types successfully parsed',
  },
];

/** The conditions to write; undefined when they say so already. */
export function planNamespaceConditions(
  before: readonly Condition[],
  content: NamespaceContent,
  nowText: string,
): readonly Condition[] | undefined {
  let hasChanged = false;
  const conditions = wantedConditions(content).map((wanted): Condition => {
    const old = conditionOf(before, wanted.type);
    const isSame =
      old?.status === wanted.status &&
      old.reason === wanted.reason &&
      old.message === wanted.message;
    if (isSame) return old;
    hasChanged = true;
    const since = old?.status === wanted.status ? old.lastTransitionTime : nowText;
    return { ...wanted, lastTransitionTime: since ?? nowText };
  });
  return hasChanged ? conditions : undefined;
}

function wantedConditions(content: NamespaceContent): readonly Wanted[] {
  return [
    ...ALWAYS_FINE,
    contentFailure(content.failures),
    contentRemaining(content.remaining),
    finalizersRemaining(content.finalizers),
  ];
}

function contentFailure(failures: readonly string[]): Wanted {
  const type = 'NamespaceDeletionContentFailure';
  if (failures.length === 0) {
    const message = 'All content successfully deleted, may be waiting on finalization';
    return { type, status: 'False', reason: 'ContentDeleted', message };
  }
  const what = failures.toSorted().join(', ');
  const message = `Failed to delete all resource types, ${String(failures.length)} remaining: ${what}`;
  return { type, status: 'True', reason: 'ContentDeletionFailed', message };
}

function contentRemaining(remaining: ReadonlyMap<string, number>): Wanted {
  const type = 'NamespaceContentRemaining';
  if (remaining.size === 0) {
    const message = 'All content successfully removed';
    return { type, status: 'False', reason: 'ContentRemoved', message };
  }
  const what = counted(remaining, 'has').join(', ');
  const message = `Some resources are remaining: ${what}`;
  return { type, status: 'True', reason: 'SomeResourcesRemain', message };
}

function finalizersRemaining(finalizers: ReadonlyMap<string, number>): Wanted {
  const type = 'NamespaceFinalizersRemaining';
  if (finalizers.size === 0) {
    const message = 'All content-preserving finalizers finished';
    return { type, status: 'False', reason: 'ContentHasNoFinalizers', message };
  }
  const what = counted(finalizers, 'in').join(', ');
  const message = `Some content in the namespace has finalizers remaining: ${what}`;
  return { type, status: 'True', reason: 'SomeFinalizersRemain', message };
}

/** `pods. has 2 resource instances`, sorted. */
function counted(counts: ReadonlyMap<string, number>, verb: 'has' | 'in'): readonly string[] {
  return [...counts]
    .map(([name, count]) => `${name} ${verb} ${String(count)} resource instances`)
    .sort();
}

/**
 * Whether the DaemonSets that `after` lists name lead back to the one that waits: then somebody in the circle must not (ADR 0058).
 *
 * Followed through the policies that the view shows, sixteen of them at most; a longer way is taken for none, and its daemons wait
 * for their progress deadline. Read only where a DaemonSet that is named names others itself.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { keysOf } from '../../../core/lane/judge-order.ts';
import { POLICY_ANNOTATION } from '../../../core/policy/rollout-policy.ts';
import type { PolicyReader } from '../../../ports/rollout-policy.ts';
import type { NamespacedName, ViewReader } from '../../../ports/stores/view-store.ts';
import type { Subject } from '../run/context.ts';

const FOLLOWED_MAX = 16;

/** What policies are followed with. */
export interface CircleContext {
  readonly dependencies: {
    readonly view: Pick<ViewReader, 'readName' | 'readDaemonSet'>;
    readonly policies: PolicyReader;
  };
}

interface CircleStep {
  readonly context: CircleContext;
  readonly subject: Pick<Subject, 'basis'>;
}

/** A key as text. */
export function textOf({ namespace, name }: NamespacedName): string {
  return `${namespace}/${name}`;
}

/** Names that a DaemonSet goes after, without its own. */
export function afterOf(
  { metadata }: DaemonSetObject,
  { dependencies }: CircleContext,
  namespace: string,
): readonly NamespacedName[] {
  const reading = dependencies.policies.read(metadata.annotations?.[POLICY_ANNOTATION]);
  const keys = reading.kind === 'policy' ? keysOf(reading.policy.after, namespace) : [];
  return keys.filter((key) => key.namespace !== namespace || key.name !== metadata.name);
}

/** True if the way from this neighbour leads back to `own`. */
export async function leadsBack(
  neighbour: { readonly key: NamespacedName; readonly daemonSet: DaemonSetObject },
  own: NamespacedName,
  { context, subject }: CircleStep,
): Promise<boolean> {
  const goal = textOf(own);
  const seen = new Set([textOf(neighbour.key)]);
  let waiting = afterOf(neighbour.daemonSet, context, neighbour.key.namespace);
  while (waiting.length > 0) {
    const [key, ...rest] = waiting;
    waiting = rest;
    if (key === undefined || seen.has(textOf(key))) continue;
    if (textOf(key) === goal) return true;
    if (seen.size >= FOLLOWED_MAX) return false;
    seen.add(textOf(key));
    const daemonSet = await readObject(key, { context, subject });
    if (daemonSet !== undefined)
      waiting = [...waiting, ...afterOf(daemonSet, context, key.namespace)];
  }
  return false;
}

async function readObject(
  key: NamespacedName,
  { context, subject }: CircleStep,
): Promise<DaemonSetObject | undefined> {
  const { view } = context.dependencies;
  const { clusterUid } = subject.basis.ref;
  const found = await view.readName(clusterUid, key);
  const uid = found?.uid ?? undefined;
  if (uid === undefined) return undefined;
  const item = await view.readDaemonSet({ clusterUid, uid });
  return item?.object ?? undefined;
}

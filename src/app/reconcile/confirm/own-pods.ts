/**
 * A DaemonSet's pods as a live list has them: this run's, or one that this process made before (ADR 0071).
 *
 * A list costs as much as some reads, so it is made for as many victims, and at most once in a run. Where it is refused or does not
 * come, each victim is read, as it is in copilot, whose role lists no pods.
 */
import type { Uid } from '../../../core/model/identifiers.ts';
import type { PodMetadata } from '../../../ports/cluster/cluster-access.ts';
import { selectorText } from '../live/selector-text.ts';
import type { Step, ViewedSubject } from '../run/context.ts';

/** What live lists told of a DaemonSet's pods. */
export interface OwnPods {
  readonly find: (pod: Uid) => PodMetadata | undefined;
  /** Lists them if enough of these are not known. */
  readonly learn: (pods: readonly Uid[]) => Promise<void>;
}

/** For a run that reads each victim. */
export const NO_OWN_PODS: OwnPods = { find: () => undefined, learn: () => Promise.resolve() };

/** The pods of the DaemonSet that a run is about. */
export function ownPodsOf(step: Step & { readonly subject: ViewedSubject }): OwnPods {
  const { context, subject, access } = step;
  const { registration, ref } = subject.basis;
  if (registration.mode !== 'takeover') return NO_OWN_PODS;
  const { clock, warmth, options } = context.dependencies;
  const { knownPods } = warmth;
  const key = { clusterUid: ref.clusterUid, uid: subject.view.uid };
  const find = (pod: Uid): PodMetadata | undefined => knownPods.find(key, pod, clock.monotonicMs());
  const learn = async (pods: readonly Uid[]): Promise<void> => {
    const unknown = pods.filter((pod) => find(pod) === undefined);
    if (unknown.length < options.victimsListedMin) return;
    const { namespace, daemonSet } = subject.view;
    const listed = await access.listPodMetadata(namespace, selectorText(daemonSet.spec.selector));
    if (listed.kind === 'found') knownPods.note(key, listed.object, clock.monotonicMs());
  };
  return { find, learn };
}

/**
 * Live lists of a DaemonSet's pods, metadata only: before creates beside foreign names (protocol 9), and before deletes.
 *
 * A pod whose name is not the one to be created is not fenced by the API server. Creates wait for one list per epoch, era and
 * takeover while there are such pods, and before a DaemonSet's first ones: an owned or adoptable pod that the view does not know
 * defers them. Differs from upstream: it makes pods beside orphans that its cache does not show yet, and deletes one of each two.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { DaemonSetState, Intent } from '../../../core/model/state.ts';
import type { View } from '../../../core/model/plan.ts';
import type { ClusterReader, PodMetadata } from '../../../ports/cluster/cluster-access.ts';
import type { StoredInputs } from '../read/stored-inputs.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { Uid } from '../../../core/model/identifiers.ts';
import type { StepDependencies } from '../process/dependencies.ts';
import type { LabelSelector } from '@rollcall/base/objects.ts';

export type ForeignListed = NonNullable<DaemonSetState['foreignListed']>;

export type ForeignCheck =
  | { readonly kind: 'clear'; readonly listed: ForeignListed }
  | { readonly kind: 'unknown-pods'; readonly names: readonly string[] }
  | { readonly kind: 'unavailable'; readonly message: string };

export function foreignListedNow({
  meta: { era, epoch },
  registration,
}: Pick<StoredInputs, 'meta' | 'registration'>): ForeignListed {
  return { era, epoch, ...defined({ probedAtMs: registration.takeoverProbedAtMs }) };
}

/** True if the list was made for this stretch already. */
export function isListedFor(listed: ForeignListed | undefined, now: ForeignListed): boolean {
  return (
    listed?.era === now.era && listed.epoch === now.epoch && listed.probedAtMs === now.probedAtMs
  );
}

/** Lists the DaemonSet's pods live and compares them with the view and with the answers that it lacks. */
export async function checkForeignPods(
  input: {
    readonly view: View;
    /** Intents that this run still waits for: their pods are no surprise. Settled ones vouch for nothing. */
    readonly open: readonly Intent[];
    readonly knownUids: ReadonlySet<string>;
    readonly now: ForeignListed;
  },
  reader: ClusterReader,
): Promise<ForeignCheck> {
  const { view, open, knownUids } = input;
  const { selector } = view.daemonSet.spec;
  const live = await reader.listPodMetadata(view.namespace, selectorText(selector));
  if (live.kind === 'unavailable') return live;
  const pods = live.kind === 'found' ? live.object : [];
  const answered = new Set(
    open.map((intent) => (intent.kind === 'create' ? intent.answer?.uid : intent.uid)),
  );
  const isOurs = ({ ownerUid, isTerminating }: PodMetadata): boolean =>
    ownerUid === view.uid || (ownerUid === undefined && !isTerminating);
  const unknown = pods.filter(
    (pod) => isOurs(pod) && !knownUids.has(pod.uid) && !answered.has(pod.uid),
  );
  if (unknown.length === 0) return { kind: 'clear', listed: input.now };
  return { kind: 'unknown-pods', names: unknown.map((pod) => pod.name) };
}

// Own pods by a live list (ADR 0071): it costs as much as some reads, so it is made for as many victims, once in a run.
// Where it is refused each victim is read, as in copilot, whose role lists no pods.

export interface OwnPods {
  readonly find: (pod: Uid) => PodMetadata | undefined;
  /** Lists them if enough of these are not known. */
  readonly learn: (pods: readonly Uid[]) => Promise<void>;
}

/** For a run that reads each victim. */
export const NO_OWN_PODS: OwnPods = { find: () => undefined, learn: () => Promise.resolve() };

export function ownPodsOf(
  { mode, clusterUid }: ClusterRegistration,
  { uid, namespace, daemonSet }: View,
  reader: ClusterReader,
  { clock, cache, options }: Pick<StepDependencies, 'clock' | 'cache' | 'options'>,
): OwnPods {
  if (mode !== 'takeover') return NO_OWN_PODS;
  const { knownPods } = cache;
  const key = { clusterUid, uid };
  const find = (pod: Uid): PodMetadata | undefined => knownPods.find(key, pod, clock.monotonicMs());
  const learn = async (pods: readonly Uid[]): Promise<void> => {
    const unknown = pods.filter((pod) => find(pod) === undefined);
    if (unknown.length < options.victimsListedMin) return;
    const listed = await reader.listPodMetadata(namespace, selectorText(daemonSet.spec.selector));
    if (listed.kind === 'found') knownPods.note(key, listed.object, clock.monotonicMs());
  };
  return { find, learn };
}

/** `a=b,c in (d,e),f,!g`: all requirements, labels first, in a fixed order. */
export function selectorText(selector: LabelSelector | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {})
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`);
  const expressions = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'NotIn' ? 'notin' : 'in'} (${values.join(',')})`;
  });
  return [...labels, ...expressions].join(',');
}

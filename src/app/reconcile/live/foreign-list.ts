/**
 * The LIST of pods that guards creates beside foreign names (protocol 9, rows 85, 87).
 *
 * A pod whose name is not the one to be created is not fenced by the API server. While a DaemonSet
 * has such pods, creates wait for one live list by selector, metadata only, once per epoch, era and
 * takeover; so do the first creates of each DaemonSet, which may find the orphans of another one, and
 * the first ones of each era, because answers to earlier creates were forgotten with the era before. A
 * pod that the view does not know, and that is owned or to be adopted, defers all creates.
 *
 * Differs from upstream: it makes pods beside orphans that its cache does not show yet, adopts the
 * orphans later, and deletes one of each two.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { DaemonSetState, Intent } from '../../../core/model/state.ts';
import type { View } from '../../../core/model/plan.ts';
import type { ClusterReader, PodMetadata } from '../../../ports/cluster/cluster-access.ts';
import type { Basis } from '../read/read-basis.ts';
import { selectorText } from './selector-text.ts';

/** For which stretch of history a list was made. */
export type ForeignListed = NonNullable<DaemonSetState['foreignListed']>;

/** What came of it. */
export type ForeignCheck =
  | { readonly kind: 'clear'; readonly listed: ForeignListed }
  | { readonly kind: 'unknown-pods'; readonly names: readonly string[] }
  | { readonly kind: 'unavailable'; readonly message: string; readonly retryAfterMs?: number };

/** The stretch of history of this run. */
export function foreignListedNow({
  meta: { era, epoch },
  registration,
}: Pick<Basis, 'meta' | 'registration'>): ForeignListed {
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

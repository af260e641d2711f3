/**
 * In which place the copy of the former revision stands (ADR 0063), so that a pod of it can say so.
 *
 * The state knows, unless it was lost: then both places are looked at, once for each run that has a pod of the former revision to make,
 * until the state has what was found. A copy tells its revision by an annotation, or by what it holds: a template whose revision was
 * trimmed gets another hash when it comes again, of the built-in controller's or of ours. What it holds is compared by admission, so
 * a wrong word costs a refusal. Who may not read copies makes pods without the label, as where no admission policy is.
 */
import { defined } from '@rollcall/base/defined.ts';
import {
  COPY_SLOTS,
  copyName,
  hashOfCopy,
  holdsTemplate,
  isCopyOfOwner,
} from '../../../core/pod/template-copy.ts';
import type { FormerTemplate } from '../../../core/model/staged-progress.ts';
import type { CopySlot } from '../../../core/model/state.ts';
import { withCopy } from '../../../core/rolling-update/plan-copy.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import type { Subject } from '../run/context.ts';
import type { Ledger } from '../run/ledger.ts';

/** Where it stands; `slot` absent: in neither place. */
export type CopyRead =
  | { readonly kind: 'known'; readonly slot?: CopySlot }
  | { readonly kind: 'unavailable'; readonly message: string };

/** Finds the place of the copy of that revision: in the state, else by two reads. */
export async function findFormerCopy(
  { hash, template }: FormerTemplate,
  { daemonSet, state }: Pick<Subject, 'daemonSet' | 'state'>,
  reader: ClusterReader,
): Promise<CopyRead> {
  const noted = state.copies?.held.find((each) => each.hash === hash);
  if (noted !== undefined) return { kind: 'known', slot: noted.slot };
  const { namespace = '', name, uid } = daemonSet.metadata;
  const reads = await Promise.all(
    COPY_SLOTS.map(async (slot) => ({
      slot,
      live: await reader.getTemplateCopy({ namespace, name: copyName(name, slot) }),
    })),
  );
  const copies = reads.flatMap(({ slot, live }) =>
    live.kind === 'found' && isCopyOfOwner(live.object, uid) ? [{ slot, object: live.object }] : [],
  );
  const found =
    copies.find(({ object }) => hashOfCopy(object) === hash) ??
    copies.find(({ object }) => holdsTemplate(object, template));
  if (found !== undefined) return { kind: 'known', slot: found.slot };
  for (const { live } of reads) {
    if (live.kind === 'unavailable' && !live.isRefused) return live;
  }
  return { kind: 'known' };
}

/** Has the state remember what was found, and what could not be read be asked for again. */
export function noteFormer(
  {
    former,
    unread,
    subject: { state, nowMs },
  }: {
    readonly former?: FormerTemplate;
    readonly unread?: string;
    readonly subject: Pick<Subject, 'state' | 'nowMs'>;
  },
  ledger: Ledger,
): void {
  if (unread !== undefined) {
    ledger.add({ code: 'cluster-unavailable', message: unread, pace: 'backoff' });
  }
  if (former?.copy === undefined) return;
  const { hash, copy: slot } = former;
  if (state.copies?.held.some((each) => each.hash === hash) === true) return;
  const { refusedAtMs } = state.copies ?? {};
  const copies = withCopy(state.copies, { slot, hash, seenAtMs: nowMs });
  ledger.copies = { ...copies, ...defined({ refusedAtMs }) };
}

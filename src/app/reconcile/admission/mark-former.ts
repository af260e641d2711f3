/**
 * A pod of a former revision names the copy that admission compares it with (ADR 0063): which one that is.
 *
 * By the state, else by a read of both places. A copy tells its revision by an annotation, or by what it holds: a trimmed
 * template that comes again gets another hash. Without the right to read copies pods go without the label.
 */
import { defined } from '@rollcall/base/defined.ts';
import { withCopy } from '../../../core/admission/plan-copy.ts';
import {
  COPY_SLOTS,
  copyName,
  hashOfCopy,
  holdsTemplate,
  isCopyOfOwner,
  labelsOfPod,
} from '../../../core/admission/template-copy.ts';
import type { FormerTemplate } from '../../../core/model/staged-progress.ts';
import type { CopySlot } from '../../../core/model/state.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import type { Answers, ReconcileInput } from '../run/context.ts';

/** The former template with the label of its copy, if one stands; unmarked its pods would be refused. */
export async function markFormer(
  former: FormerTemplate,
  input: Pick<ReconcileInput, 'daemonSet' | 'state' | 'nowMs'>,
  reader: ClusterReader,
): Promise<NonNullable<Answers['template']>> {
  const { hash } = former;
  const { copies } = input.state;
  const noted = copies?.held.find((each) => each.hash === hash);
  if (noted !== undefined) {
    return { kind: 'found', former: { ...former, labels: labelsOfPod(noted.slot) } };
  }
  const read = await findCopy(former, input, reader);
  if (read.kind === 'unavailable') return read;
  if (read.kind === 'none') return { kind: 'found', former };
  const { slot } = read;
  return {
    kind: 'found',
    former: { ...former, labels: labelsOfPod(slot) },
    copies: {
      ...withCopy(copies, { slot, hash, seenAtMs: input.nowMs }),
      ...defined({ refusedAtMs: copies?.refusedAtMs }),
    },
  };
}

type CopyRead =
  | { readonly kind: 'found'; readonly slot: CopySlot }
  | { readonly kind: 'none' }
  | { readonly kind: 'unavailable'; readonly message: string };

async function findCopy(
  { hash, template }: FormerTemplate,
  { daemonSet }: Pick<ReconcileInput, 'daemonSet'>,
  reader: ClusterReader,
): Promise<CopyRead> {
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
  if (found !== undefined) return { kind: 'found', slot: found.slot };
  for (const { live } of reads) {
    if (live.kind === 'unavailable' && !live.isRefused) return live;
  }
  return { kind: 'none' };
}

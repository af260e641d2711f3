/**
 * The template of the former revision, read live when a pod of it is to be made.
 *
 * The revision is found in the view by its hash, and its data are read: an object of the cluster's own history, never a
 * copy of ours. One that is gone leaves its nodes waiting, and says so: nothing unproven is made in its place.
 */
import { defined } from '@rollcall/base/defined.ts';
import { isJsonObject, jsonMember } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { FormerTemplate } from '../../../core/model/staged-progress.ts';
import {
  REVISION_HASH_LABEL,
  TEMPLATE_GENERATION_ANNOTATION,
} from '../../../core/pod/pod-facts.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import type { Answers, LoadedInput, ReconcileInput } from '../run/context.ts';
import {
  COPY_SLOTS,
  copyName,
  hashOfCopy,
  holdsTemplate,
  isCopyOfOwner,
} from '../../../core/pod/template-copy.ts';
import type { CopySlot } from '../../../core/model/state.ts';
import { withCopy } from '../../../core/rolling-update/plan-copy.ts';
import type { RunResult } from '../run/result.ts';

/** Reads the revision of that hash. */
export async function readFormer(
  hash: string,
  { daemonSet, read }: Pick<LoadedInput, 'daemonSet' | 'read'>,
  reader: ClusterReader,
): Promise<NonNullable<Answers['template']>> {
  const { namespace = '', uid } = daemonSet.metadata;
  const seen = read.revisions.find(
    ({ ownerUid, labels }) => ownerUid === uid && labels[REVISION_HASH_LABEL] === hash,
  );
  if (seen === undefined) return { kind: 'missing' };
  const live = await reader.getRevision({ namespace, name: seen.name });
  if (live.kind === 'unavailable') return { kind: 'unavailable', message: live.message };
  if (live.kind === 'missing' || live.object.metadata.uid !== seen.uid) return { kind: 'missing' };
  const data = live.object['data'] as Json | undefined; // raw JSON of an API server
  const template = jsonMember(jsonMember(data, 'spec'), 'template');
  if (!isJsonObject(template)) return { kind: 'missing' };
  // `$patch: replace` is how a rollback applies it; a pod is made of the rest.
  const { $patch: _directive, ...rest } = template;
  const generation = live.object.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION];
  return { kind: 'found', former: { hash, template: rest, ...defined({ generation }) } };
}

// The place of its copy (ADR 0063), so that a pod can name it. A lost state has both places looked at. A copy tells its
// revision by an annotation, or by what it holds: a trimmed template that comes again gets another hash. Admission
// compares what it holds, so a wrong word costs a refusal; without the right to read copies pods go without the label.

/** Where it stands; `slot` absent: in neither place. */
export type CopyRead =
  | { readonly kind: 'known'; readonly slot?: CopySlot }
  | { readonly kind: 'unavailable'; readonly message: string };

/** Finds the place of the copy of that revision: in the state, else by two reads. */
export async function findFormerCopy(
  { hash, template }: FormerTemplate,
  { daemonSet, state }: Pick<LoadedInput, 'daemonSet' | 'state'>,
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
export function noteFormer({ answers, state, nowMs }: ReconcileInput, result: RunResult): void {
  const { template } = answers;
  if (template?.kind === 'unavailable') {
    const { message } = template;
    result.add({ code: 'cluster-unavailable', message, pace: 'backoff' });
  }
  if (template?.kind !== 'found') return;
  const { former } = template;
  if (former.copy === undefined) return;
  const { hash, copy: slot } = former;
  if (state.copies?.held.some((each) => each.hash === hash) === true) return;
  const { refusedAtMs } = state.copies ?? {};
  const copies = withCopy(state.copies, { slot, hash, seenAtMs: nowMs });
  result.copies = { ...copies, ...defined({ refusedAtMs }) };
}

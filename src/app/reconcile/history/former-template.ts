/**
 * The template of the former revision, read live when a pod of it is to be made (issue 17: stage-true revisions).
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
import type { Subject } from '../run/context.ts';

/** The template, or why there is none. */
export type FormerRead =
  | { readonly kind: 'found'; readonly former: FormerTemplate }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unavailable'; readonly message: string };

/** Reads the revision of that hash. */
export async function readFormer(
  hash: string,
  { daemonSet, read }: Pick<Subject, 'daemonSet' | 'read'>,
  reader: ClusterReader,
): Promise<FormerRead> {
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

/**
 * The kubectl command that goes back to the good revision, for a person: where Rollcall may not change the template.
 *
 * By the number of the revision, because kubectl's default is the second newest, which need not be the good one. A view that
 * is being written is read again, as a run does (protocol 2): pods that come and go fast are what people go back from.
 */
import { wayBackOf } from '../../core/rollout/good-releases.ts';
import type { RevisionProjection } from '../../core/model/projections.ts';
import type { ExplainSources } from '../why/explain.ts';
import { readView } from '../reconcile/read/read-view.ts';
import { findRollout, type FindSources, type FoundRollout } from './find-rollout.ts';

/** Reads in all: the first, and three re-reads. */
const READS_MAX = 4;

/**
 * The command; undefined: the view does not tell the number or does not hold still, or the revision is gone. Rejects when
 * the table fails.
 */
export async function undoCommand(
  first: FoundRollout,
  sources: ExplainSources & FindSources,
): Promise<string | undefined> {
  let found = first;
  for (let read = 1; ; read += 1) {
    const view = await readView(found.stored, sources);
    if (view.kind === 'read') return commandOf(found, view.view.revisions);
    if (view.kind === 'incomplete' || read === READS_MAX) return undefined;
    const again = await findRollout(first.key, sources);
    if (again.kind === 'refused') return undefined;
    found = again;
  }
}

function commandOf(
  { key, stored }: FoundRollout,
  revisions: readonly RevisionProjection[],
): string | undefined {
  const record = stored.state?.rollout;
  const back = record && wayBackOf(record);
  if (back === undefined) return undefined;
  const { hash } = back;
  const found = revisions.find(
    ({ ownerUid, labels, isTerminating }) =>
      ownerUid === stored.ref.uid && labels['controller-revision-hash'] === hash && !isTerminating,
  );
  if (found === undefined) return undefined;
  const { namespace, name } = key;
  return `kubectl --namespace ${namespace} rollout undo daemonset/${name} --to-revision=${String(found.revision)}`;
}

/**
 * The kubectl command that goes back to the proven revision, for a person: where Rollcall may not change the template.
 *
 * By the number of the revision, because kubectl's default is the second newest, which need not be the proven one.
 */
import { wayBackOf } from '../../core/rollout/orders.ts';
import { templateOfRevision } from '../../core/pod/revision.ts';
import type { ExplainSources } from '../explain/explain.ts';
import { readView } from '../reconcile/read/read-view.ts';
import type { FoundRollout } from './find-rollout.ts';

/** The command; undefined: the view does not tell the number, or the revision is gone. Rejects when the table fails. */
export async function undoCommand(
  { key, basis }: FoundRollout,
  sources: ExplainSources,
): Promise<string | undefined> {
  const record = basis.state?.rollout;
  const back = record && wayBackOf(record);
  if (back === undefined) return undefined;
  const hash = templateOfRevision(back.hash);
  const read = await readView(basis, sources);
  if (read.kind !== 'read') return undefined;
  const found = read.view.revisions.find(
    ({ ownerUid, labels, isTerminating }) =>
      ownerUid === basis.ref.uid && labels['controller-revision-hash'] === hash && !isTerminating,
  );
  if (found === undefined) return undefined;
  const { namespace, name } = key;
  return `kubectl --namespace ${namespace} rollout undo daemonset/${name} --to-revision=${String(found.revision)}`;
}

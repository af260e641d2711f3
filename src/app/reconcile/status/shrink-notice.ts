/**
 * Tells of a shrink that is held, seen, confirmed or over: one metric, one log line, and an Event where one may be written.
 *
 * Who made the change is looked up live, because projections hold no managedFields; an answer that does not come only costs
 * the name. Told once, in the run whose record it enters: the Event goes with that run's others.
 */
import { findAuthor } from '../../../core/interlock/shrink-author.ts';
import type { ShrinkAuthor } from '../../../core/interlock/shrink-author.ts';
import { describe, shrinkEvent } from '../../../core/interlock/shrink-events.ts';
import { formatKey } from '../../../core/model/identifiers.ts';
import type { Plan, ShrinkNotice, ShrinkSuspect } from '../../../core/model/plan.ts';
import type { ClusterAccess } from '../../../ports/cluster/cluster-access.ts';
import { keyOf } from '../run/context.ts';
import type { RunContext, Step } from '../run/context.ts';
import type { Ledger } from '../run/ledger.ts';

type NoticeStep = Omit<Step, 'access'> & {
  readonly ledger: Ledger;
  readonly access: ClusterAccess | undefined;
};

/** Tells what a plan has to say of a shrink; answers the access that its Event is written with. */
export async function giveShrinkNotice(
  { shrink }: Pick<Plan, 'shrink'>,
  step: NoticeStep,
): Promise<ClusterAccess | undefined> {
  const notice = shrink?.notice;
  if (notice === undefined) return step.access;
  const { context, subject, ledger } = step;
  const isTold = notice.kind === 'held' || notice.kind === 'alarmed';
  const access = isTold ? (step.access ?? (await subject.access.get())) : step.access;
  const author =
    isTold && access !== undefined
      ? await readAuthor(notice.suspect, { context, access })
      : undefined;
  if (author !== undefined) ledger.shrinkAuthor = author;
  report(notice, { context, author });
  const event = shrinkEvent(notice, { ...keyOf(context), author });
  if (event !== undefined && access !== undefined) ledger.events.push(event);
  return access;
}

async function readAuthor(
  suspect: ShrinkSuspect,
  { context, access }: { readonly context: RunContext; readonly access: ClusterAccess },
): Promise<ShrinkAuthor | undefined> {
  const live =
    suspect.kind === 'node'
      ? await access.getNode(suspect.node)
      : await access.getDaemonSet(keyOf(context));
  if (live.kind !== 'found') return undefined;
  return findAuthor(live.object, suspect, context.dependencies.clock.nowMs());
}

function report(
  { kind, held }: ShrinkNotice,
  { context, author }: { readonly context: RunContext; readonly author: ShrinkAuthor | undefined },
): void {
  const { metrics, log } = context.dependencies;
  metrics.count('ReconcileShrinks', { outcome: kind });
  const fields = { key: formatKey(context.hint.key), code: kind, detail: describe(held, author) };
  if (kind === 'held' || kind === 'alarmed') log.warn('a DaemonSet shrinks', fields);
  else log.info('a DaemonSet shrinks no more', fields);
}

/**
 * Sends the deletes of a run in batches, each fenced anew but the first (design 3, step 7).
 *
 * The first batch stands on the confirmation just before the intents were recorded. Of later ones the
 * victim is certain by its precondition, and a freeze or another run is noticed after one batch at
 * most (protocol 7, row 92), an edit by a batch that goes for the template too. What was not started is
 * answered `unsent`, so that its intent can be withdrawn. Differs from upstream, which sends all deletes at once and by name.
 */
import type { Outcome } from '../../../core/model/effects.ts';
import { fenceBatch } from '../confirm/batch-fence.ts';
import type { Fence, FenceStop } from '../confirm/batch-fence.ts';
import { isForTemplate } from '../confirm/confirm-edit.ts';
import type { ConfirmedDelete } from '../confirm/confirm-victims.ts';
import { effectDeadlineMs } from '../run/context.ts';

/** Deletes sent side by side. */
const DELETES_AT_ONCE = 100;

/** One delete and what came of it. */
export interface SentDelete {
  readonly victim: ConfirmedDelete;
  readonly outcome: Outcome;
}

/** All deletes of a run, in their order. */
export interface DeleteExecution {
  readonly sent: readonly SentDelete[];
  /** Why not all were started. */
  readonly stopped?: FenceStop;
}

/** Sends batches until all are sent or something says stop. */
export async function executeDeletes(
  victims: readonly ConfirmedDelete[],
  fence: Fence,
): Promise<DeleteExecution> {
  const sent: SentDelete[] = [];
  let stopped: DeleteExecution['stopped'];
  let isTroubled = false;
  while (sent.length < victims.length && !isTroubled) {
    const batch = victims.slice(sent.length, sent.length + DELETES_AT_ONCE);
    const answer = await fenceBatch(fence, {
      isFirst: sent.length === 0,
      isCreating: false,
      isForTemplate: batch.some(isForTemplate),
    });
    if (answer.kind === 'stop') {
      stopped = answer;
      break;
    }
    const outcomes = await fence.access.execute(
      batch.map(({ effect }) => effect),
      { deadlineMs: effectDeadlineMs(fence.context) },
    );
    for (const [index, victim] of batch.entries()) {
      sent.push({ victim, outcome: outcomes[index] ?? NO_OUTCOME });
    }
    // An API server that turns requests away is asked again later, not 150 times more.
    isTroubled = outcomes.some(({ kind }) => kind === 'unsent');
  }
  const notStarted = victims.slice(sent.length).map(neverSent);
  const all = [...sent, ...notStarted];
  return stopped === undefined ? { sent: all } : { sent: all, stopped };
}

const NO_OUTCOME: Outcome = { kind: 'ambiguous', message: 'no outcome' };

/** A delete that this run will not send any more. */
export function neverSent(victim: ConfirmedDelete): SentDelete {
  return { victim, outcome: { kind: 'unsent', message: 'the batch was not started' } };
}

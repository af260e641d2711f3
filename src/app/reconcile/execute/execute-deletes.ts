/**
 * Sends the deletes of a run in batches, each fenced anew but the first (design 3, step 7).
 *
 * The first batch stands on the confirmation just before the intents were recorded. Of later ones the
 * victim is certain by its precondition, and a freeze or another run is noticed after one batch at
 * most (protocol 7, row 92), an edit by a batch that goes for the template too. What was not started is
 * answered `unsent`, so that its intent can be withdrawn. Differs from upstream, which sends all deletes at once and by name.
 */
import { sendFenced } from '../confirm/batch-fence.ts';
import type { Fence, FencedSending } from '../confirm/batch-fence.ts';
import { isForTemplate } from '../confirm/confirm-victims.ts';
import type { ConfirmedDelete } from '../confirm/confirm-victims.ts';

/** Deletes sent side by side. */
const DELETES_AT_ONCE = 100;

/** All deletes of a run in their order, each with what came of it. */
export type DeleteExecution = FencedSending<ConfirmedDelete>;

/** Sends batches until all are sent or something says stop. */
export async function executeDeletes(
  victims: readonly ConfirmedDelete[],
  fence: Fence,
): Promise<DeleteExecution> {
  const { sent, ...end } = await sendFenced(victims, fence, {
    size: DELETES_AT_ONCE,
    isForTemplate,
    // An API server that turns requests away is asked again later, not 150 times more.
    isLast: ({ kind }) => kind === 'unsent',
  });
  return { sent: [...sent, ...victims.slice(sent.length).map(neverSent)], ...end };
}

/** A delete that this run will not send any more. */
export function neverSent(item: ConfirmedDelete): DeleteExecution['sent'][number] {
  return { item, outcome: { kind: 'unsent', message: 'the batch was not started' } };
}

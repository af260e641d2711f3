/**
 * The rollback of copilot: a DaemonSet whose rollout was halted gets the template of its former revision back.
 *
 * Only where its policy says `onHalt: rollback`, and once a breach: the record notes the generation, and the next look finds
 * the former revision current, or the halted one put back, which is held. The right to patch named DaemonSets is optional;
 * without it the rollout stays halted, an Event has the command for a person, and the API server is asked again after an hour at
 * the earliest, by whichever look comes then. The version of a live read of this run is the precondition. It is a batch of its own:
 * what was frozen since the run's deletes were sent is not restored.
 */
import { generationOf } from '../../../core/daemon-set/generation.ts';
import type { Outcome } from '../../../core/model/effects.ts';
import { resourceVersion } from '../../../core/model/identifiers.ts';
import type { Plan } from '../../../core/model/plan.ts';
import { REVISION_HASH_LABEL } from '../../../core/pod/pod-facts.ts';
import type { DaemonSetState } from '../../../core/model/state.ts';
import { passesFence } from '../confirm/batch-fence.ts';
import { readPlanned } from '../confirm/live-daemon-set.ts';
import { readFormer } from '../history/former.ts';
import { keyOf, sendOne, type NotedStep, type ReconcileInput } from '../run/context.ts';
import { cameOf } from './came-of.ts';
import { recordEntry } from './record-entry.ts';

/** Restores the template that the plan asks for, if it asks for one. The answer is the state as it stands now. */
export async function restoreTemplate(
  step: NotedStep & {
    readonly plan: Pick<Plan, 'restores'>;
    readonly recorded: DaemonSetState;
  },
): Promise<DaemonSetState> {
  const { context, input, access, plan, result, recorded } = step;
  const hash = plan.restores;
  if (hash === undefined) return recorded;
  if (!(await passesFence({ ...step, stateVersion: recorded.version }))) return recorded;
  const [former, live] = await Promise.all([
    readFormer(hash, input, access),
    readPlanned({ context, input, access }),
  ]);
  if (former.kind !== 'found' || live.kind !== 'found') {
    const message = `the template of revision ${hash} cannot be restored now`;
    result.add({ code: 'outcome-open', message, pace: 'backoff' });
    return recorded;
  }
  const { ref } = input.stored;
  const wanted = [{ effect: 'restore-template', name: hash }] as const;
  const logged = await recordEntry(wanted, { ref, recorded, result }, context);
  if (logged === undefined) return recorded;
  const outcome = await sendOne(
    {
      kind: 'restore-template',
      ...keyOf(context),
      uid: ref.uid,
      resourceVersion: resourceVersion(live.object.metadata.resourceVersion),
      template: former.former.template,
    },
    step,
  );
  const isPossible = outcome.kind === 'done' || outcome.kind === 'ambiguous';
  if (isPossible) {
    result.restoring = { restoredGeneration: generationOf(live.object) };
  }
  result.sent.push({ effect: 'restore-template', name: hash, ...cameOf(outcome) });
  noteOutcome(outcome, hash, step);
  return logged;
}

function noteOutcome(outcome: Outcome, hash: string, { input, result }: NotedStep): void {
  switch (outcome.kind) {
    case 'done': {
      const message = `The template of revision ${hash} is restored, the last good one`;
      result.events.push({ type: 'Normal', reason: 'RolloutRolledBack', message });
      return;
    }
    case 'refused': {
      const message = `Revision ${hash} cannot be restored (${outcome.code}); go back with: ${commandOf(hash, input)}`;
      result.events.push({ type: 'Warning', reason: 'RollbackRefused', message, isStanding: true });
      result.restoring = { restoreRefusedAtMs: input.nowMs };
      return;
    }
    default: {
      const message = 'the restored template was not answered for';
      result.add({ code: 'outcome-open', message, pace: 'backoff' });
    }
  }
}

/** What a person types who has the right. */
function commandOf(hash: string, { daemonSet, read }: ReconcileInput): string {
  const { namespace = '', name } = daemonSet.metadata;
  const seen = read.revisions.find(({ labels }) => labels[REVISION_HASH_LABEL] === hash);
  const to = seen === undefined ? '' : ` --to-revision=${String(seen.revision)}`;
  return `kubectl -n ${namespace} rollout undo daemonset/${name}${to}`;
}

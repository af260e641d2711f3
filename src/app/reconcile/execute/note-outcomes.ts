/**
 * Turns answers of the API server into notes: what is settled, what stays open, what is left to do (protocol 4, 5).
 *
 * 201 and 409 resolve a create. A pod of ours found under the name, even on its way out, answers the intent: nothing else is made
 * there until the view shows it (S1). A delete that was not applied is withdrawn only if no earlier run recorded it.
 */
import { defined } from '@rollcall/base/defined.ts';
import { withdrawableIntents } from '../../../core/intents/merge-intents.ts';
import {
  createFailedEvent,
  createdEvent,
  deleteFailedEvent,
  deletedEvent,
} from '../../../core/events/events.ts';
import type { Outcome } from '../../../core/model/effects.ts';
import type { PlannedCreate } from '../../../core/model/plan.ts';
import type { CreateIntent, DeleteIntent, Intent } from '../../../core/model/state.ts';
import type { ConfirmedDelete } from '../confirm/confirm-victims.ts';
import type { CreateResult } from './create-result.ts';
import { cameOfCreate, cameOfDelete } from './came-of.ts';
import type { CreateExecution } from './execute-creates.ts';
import type { FencedSending } from '../confirm/batch-fence.ts';
import type { RunResult } from '../run/result.ts';

/** Intents of this run by name or UID, and those that were stored before it. */
export interface IntentBook {
  readonly recorded: readonly Intent[];
  readonly before: readonly Intent[];
}

export function noteCreates(execution: CreateExecution, book: IntentBook, result: RunResult): void {
  const intents = new Map<string, CreateIntent>();
  for (const intent of book.recorded)
    if (intent.kind === 'create') intents.set(intent.name, intent);
  const settle = ({ name }: PlannedCreate): void => {
    const intent = intents.get(name);
    if (intent !== undefined) result.settled.push(intent);
  };
  for (const { planned, result: creation } of execution.results) {
    const intent = intents.get(planned.name);
    if (intent === undefined) throw new Error(`pod ${planned.name} was created unrecorded`);
    noteCreate(planned, creation, result);
    result.sent.push({ effect: 'create', name: planned.node, ...cameOfCreate(creation) });
    // Which pod of ours is known to bear the name now.
    const made = 'pod' in creation ? creation.pod : undefined;
    if (made !== undefined) {
      const { name, recordedAtMs } = intent;
      result.answers.push({ kind: 'created', name, recordedAtMs, ...made });
    } else if (creation.kind !== 'open') settle(planned);
  }
  for (const planned of execution.notStarted) {
    settle(planned);
    result.sent.push({ effect: 'create', name: planned.node, came: 'unsent' });
  }
  noteStop(execution, result);
}

function noteCreate(planned: PlannedCreate, creation: CreateResult, result: RunResult): void {
  switch (creation.kind) {
    case 'created':
      result.clearedNodes.add(planned.node);
      result.created += 1;
      // The answered intent waits for its own pod, by identity: it raises no mark of all pods.
      if (creation.isNew) result.events.push(createdEvent(planned.name));
      return;
    case 'refused':
      result.refused.push({
        node: planned.node,
        code: creation.code,
        message: creation.message,
        ...defined({ holder: creation.holder }),
      });
      result.events.push(
        // It was made, whatever a webhook did to it (row 42).
        creation.pod !== undefined
          ? createdEvent(planned.name)
          : createFailedEvent(creation.said ?? creation.message),
      );
      return;
    case 'waiting':
    case 'withheld':
      result.clearedNodes.add(planned.node);
      result.add({ code: 'outcome-open', message: whyWaiting(planned, creation), pace: 'soon' });
      return;
    case 'open':
      result.events.push(createFailedEvent(creation.said ?? creation.message));
      return;
    case 'unsent':
    case 'closed':
      return;
  }
}

function whyWaiting(
  { name }: PlannedCreate,
  creation: Extract<CreateResult, { kind: 'waiting' | 'withheld' }>,
): string {
  if (creation.kind === 'waiting') return `pod ${name} is still there (${creation.held})`;
  return `pod ${name} is not made yet: the pod before it was not found as it was seen`;
}

function noteStop(execution: CreateExecution, result: RunResult): void {
  const closed = execution.results.find(({ result: { kind } }) => kind === 'closed')?.result;
  if (closed?.kind === 'closed') {
    const { code, message } = closed;
    const isAccess = code === 'unauthorized';
    result.add({
      code: isAccess ? 'no-access' : 'namespace-terminating',
      message,
      pace: 'backoff',
      holdsCreates: !isAccess,
    });
    return;
  }
  const { stopped } = execution;
  if (stopped?.kind === 'fenced') {
    const { code, message } = stopped.answer;
    result.add({ code, message, pace: code === 'cluster-unavailable' ? 'backoff' : 'soon' });
  } else if (stopped?.kind === 'all-refused') {
    const message = 'every pod was refused';
    result.add({ code: 'refused', message, pace: 'backoff', holdsCreates: true });
  }
  noteTrouble(execution, result);
}

/** Answers without certainty, or no sending at all: longer each time; no creates while the API server asks to wait. */
function noteTrouble(execution: CreateExecution, result: RunResult): void {
  let holdsCreates = false;
  let message: string | undefined;
  for (const { result: creation } of execution.results) {
    if (creation.kind === 'unsent') holdsCreates ||= (creation.retryAfterMs ?? 0) > 0;
    if (creation.kind === 'unsent' || creation.kind === 'open') message ??= creation.message;
  }
  if (message === undefined) return;
  result.add({ code: 'outcome-open', message, pace: 'backoff', holdsCreates });
}

export function noteDeletes(
  sent: FencedSending<ConfirmedDelete>['sent'],
  book: IntentBook,
  result: RunResult,
): void {
  const intents = new Map<string, DeleteIntent>();
  for (const intent of book.recorded) if (intent.kind === 'delete') intents.set(intent.uid, intent);
  const neverApplied: Intent[] = [];
  for (const { item: victim, outcome } of sent) {
    const intent = intents.get(victim.effect.uid);
    if (intent === undefined) throw new Error(`pod ${victim.effect.name} was deleted unrecorded`);
    const { node, name } = victim.effect;
    result.sent.push({ effect: 'delete', name: node ?? name, ...cameOfDelete(outcome) });
    if (noteDelete(victim, outcome, result) === 'settled') result.settled.push(intent);
    if (outcome.kind === 'refused' || outcome.kind === 'unsent') neverApplied.push(intent);
  }
  result.settled.push(...withdrawableIntents({ neverSent: neverApplied, before: book.before }));
}

function noteDelete(
  { effect, from }: ConfirmedDelete,
  outcome: Outcome,
  result: RunResult,
): 'open' | 'settled' {
  switch (outcome.kind) {
    case 'done':
      result.answers.push({ kind: 'deleted', uid: effect.uid });
      result.deleted += 1;
      result.events.push(deletedEvent(effect.name));
      return 'open';
    case 'gone':
      // Until the view shows that the pod is gone it counts as going, like an accepted delete.
      result.answers.push({ kind: 'deleted', uid: effect.uid });
      return 'open';
    case 'conflict':
      if (from === 'view') result.movedVictims.push(effect.uid);
      result.add({ code: 'outcome-open', message: outcome.message, pace: 'soon' });
      return 'settled';
    case 'refused':
      result.events.push(deleteFailedEvent(outcome.said ?? outcome.message));
      result.add({ code: 'refused', message: outcome.message, pace: 'backoff' });
      noteRefusedDelete(effect, outcome, result);
      return 'open';
    case 'unsent':
    case 'ambiguous':
      result.add({ code: 'outcome-open', message: outcome.message, pace: 'backoff' });
      return 'open';
    case 'exists':
      throw new Error(`a delete of ${effect.name} was answered AlreadyExists`);
  }
}

/** Others are to have their turn in a rolling update before this pod is tried again. */
function noteRefusedDelete(
  { node, uid }: ConfirmedDelete['effect'],
  { code, message }: Extract<Outcome, { kind: 'refused' }>,
  result: RunResult,
): void {
  if (node !== undefined) result.refused.push({ node, code, message, victim: uid });
}

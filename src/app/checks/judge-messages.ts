/**
 * Findings about what travels between cluster and functions: queues, sender, refused messages.
 *
 * Pure. Queues are the whole stack's; sender and refusals are the cluster's.
 */
import { counted } from '@rollcall/base/counted.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { Facts, RefusalFact } from './needs.ts';
import { failed, notChecked, ok, warning, type Finding } from './finding.ts';

/** More than this in the events queue is a backlog: ingest takes ten at a time of each cluster. */
const BACKLOG_MIN = 1_000;

/** The queue that watchers send to. SQS itself says no age of its oldest message; CloudWatch does. */
export function judgeEventsQueue({ eventsQueue }: Facts<'eventsQueue'>): Finding {
  if (eventsQueue.kind === 'unchecked') return notChecked('events-queue', eventsQueue.why);
  const fact = eventsQueue.value;
  if (fact.kind === 'missing') {
    return failed('events-queue', 'events-queue-missing', {
      seen: 'the events queue of the stack does not exist',
      next: 'Deploy the stack again: npx osls deploy --stage STAGE',
    });
  }
  const seen = `about ${counted(fact.waiting, 'message of all clusters waits', 'messages of all clusters wait')}, ${counted(fact.inFlight, 'is being handled', 'are being handled')}`;
  if (fact.waiting < BACKLOG_MIN) {
    return ok('events-queue', 'events-queue-ok', seen);
  }
  return warning('events-queue', 'events-queue-backlog', {
    seen,
    next: 'Does ingest run? Look at its errors and throttles, and the age of the oldest message, on the dashboard.',
  });
}

/** What waits in the dead-letter queues of the stack: the function that takes them is down. */
export function judgeDeadLetters({ deadLetterQueues }: Facts<'deadLetterQueues'>): Finding {
  if (deadLetterQueues.kind === 'unchecked') {
    return notChecked('dead-letters', deadLetterQueues.why);
  }
  const waiting = deadLetterQueues.value.flatMap(({ name, fact }) =>
    fact.kind === 'found' && fact.waiting > 0 ? [`${fact.waiting} in ${name}`] : [],
  );
  if (waiting.length === 0) {
    return ok('dead-letters', 'dead-letters-none', 'nothing waits in the dead-letter queues');
  }
  return warning('dead-letters', 'dead-letters-waiting', {
    seen: `messages of the stack wait in its dead-letter queues: ${waiting.join(', ')}`,
    next: 'Does the function dead-letter run? It takes them; hints and timers can also be moved back: docs/operations.md#dead-letters',
  });
}

/** The role that may speak for the cluster, against the one that IAM knows. */
export function judgeSender(
  registration: ClusterRegistration,
  { sender }: Facts<'sender'>,
): Finding {
  if (sender.kind === 'unchecked') return notChecked('sender', sender.why);
  const { roleName, roleId } = sender.value;
  const { senderRoleId, id } = registration;
  if (roleId === senderRoleId) {
    return ok('sender', 'sender-ok', `the role ${roleName} has the registered id`);
  }
  if (roleId === undefined) {
    return failed('sender', 'sender-missing', {
      seen: `there is no role ${roleName} in the account that was asked`,
      next: 'Pass --cluster-profile with a profile of the account where the cluster is; or make its roles again: rollcall cluster add --print cloudformation',
    });
  }
  return failed('sender', 'sender-differs', {
    seen: `the role ${roleName} has the id ${roleId}, registered is ${senderRoleId}: it was made anew, and its messages are refused`,
    next: `Register the new role: rollcall cluster set ${id} --role-id ${roleId}`,
  });
}

/** Refusals that say that the cluster cannot be heard. */
const REFUSAL_ADVICE = {
  'wrong-cluster-uid': {
    seen: 'messages name another cluster UID: the cluster was rebuilt, or its watcher runs in another one',
    next: 'If it was rebuilt: rollcall cluster reset ID. If not, take its role away from the other cluster.',
  },
  'wrong-sender': {
    seen: 'another role sends messages for this cluster than the one registered',
    next: 'If its role was made anew: rollcall cluster set ID --role-id AROA…. If not, another sender claims to be it.',
  },
  'wrong-group': {
    seen: 'messages for this cluster come in another message group',
    next: 'Is its watcher of this release? If so, another sender claims to be it: the role is named above.',
  },
  'unknown-cluster': {
    seen: 'messages for this cluster came before it was registered, or under another spelling',
    next: 'Compare ROLLCALL_CLUSTER of the watcher with the registered id.',
  },
};

function isAdvised(code: string): code is keyof typeof REFUSAL_ADVICE {
  return code in REFUSAL_ADVICE;
}

const CANNOT_READ = {
  seen: 'messages of this cluster cannot be read',
  next: 'Is the watcher of a release that this stack reads? The log of ingest says which field: `message refused`.',
};

/**
 * Refused messages of the last day. One that came after the last message that was taken means that the
 * cluster is not heard now; an older one is over.
 */
export function judgeRefusals(
  { id, clusterUid }: ClusterRegistration,
  facts: Facts<'refusals' | 'meta'>,
): readonly Finding[] {
  const { refusals, meta } = facts;
  if (refusals.kind === 'unchecked') return [notChecked('refusals', refusals.why)];
  const heardAtMs = (meta.kind === 'checked' ? meta.value?.lastSentAtMs : undefined) ?? -Infinity;
  const latest = new Map<string, RefusalFact>();
  for (const refusal of refusals.value) {
    if (refusal.queue === 'ingest') latest.set(refusal.code, refusal);
  }
  if (latest.size === 0) {
    return [ok('refusals', 'refusals-none', 'no message of this cluster was refused within a day')];
  }
  return [...latest.values()].map((refusal) => {
    // What was said of the UID that is registered by now was before its reset.
    const { code, detail } = refusal;
    const isOfThis = code === 'wrong-cluster-uid' && detail === clusterUid;
    const isOver = heardAtMs > refusal.atMs || isOfThis;
    return refusalFinding(refusal, { id, isOver, nowMs: facts.nowMs });
  });
}

function refusalFinding(
  { code, atMs, detail, senderRoleId }: RefusalFact,
  { id, isOver, nowMs }: { readonly id: string; readonly isOver: boolean; readonly nowMs: number },
): Finding {
  const advice = isAdvised(code) ? REFUSAL_ADVICE[code] : CANNOT_READ;
  const minutes = Math.round((nowMs - atMs) / 60_000);
  // A sender that claims to be a healthy cluster does it no harm, but is worth a look.
  const isForged = code === 'wrong-sender' || code === 'wrong-group';
  const who = senderRoleId === undefined ? '' : `, by ${senderRoleId}`;
  const what = code === 'wrong-cluster-uid' && detail !== '' ? ` (${detail})` : '';
  const overLevel = isForged ? 'warning' : 'ok';
  return {
    link: 'refusals',
    code: isAdvised(code) ? `refused-${code}` : 'refused-unreadable',
    level: isOver ? overLevel : 'failed',
    seen: `${advice.seen}${what}; last ${counted(minutes, 'minute')} ago${who}${isOver ? ', and it is over' : ''}`,
    ...(isOver && !isForged ? {} : { next: advice.next.replace(/\bID\b/, id) }),
  };
}

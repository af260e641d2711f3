/**
 * What a rolling update says about a node, in one sentence that a person can read (spec 2.9).
 *
 * Names the pod and what it waits for; no counts and no relative times, so that verdicts
 * change only when the node's part in the rollout does. Nothing is decided here.
 */
import type { NodeCode } from '../model/verdict.ts';
import { NOT_READY } from '../rollout/gate-words.ts';
import type { RolloutNote, RolloutReason } from './plan-rollout.ts';

/** The matter on a node, as the end of a sentence that begins with the node. */
export interface RolloutFinding {
  readonly code: NodeCode;
  readonly text: string;
  readonly pod?: string;
  readonly untilMs?: number;
}

const WHY: Readonly<Record<RolloutReason, string>> = {
  outdated: 'to make room for its successor',
  replaced: 'because its successor is available',
  vacated: 'because no pod belongs there any more',
};

/** Puts a note into words; `isSent` is false if the burst cap left its effect for the next run. */
export function describeRollout(
  note: RolloutNote,
  at: { readonly isSent: boolean; readonly isWanted: boolean },
): RolloutFinding {
  switch (note.kind) {
    case 'deleting':
    case 'creating':
      return describeStep(note, at);
    case 'surging': {
      const { pod, name } = note;
      const text = `has pod ${name} of the current revision; pod ${pod} goes when that is available`;
      return { code: 'Updating', pod: name, text };
    }
    case 'waiting':
      return { code: 'WaitingForRollout', pod: note.pod, text: describeWaiting(note, at.isWanted) };
    case 'held-up': {
      const { pod, stray } = note;
      const until = `pod ${stray} of a node that is gone has been collected (compat strict)`;
      const text = `has pod ${pod} of an older revision; the rolling update stands still until ${until}`;
      return { code: 'WaitingForRollout', pod, text };
    }
    case 'blocked': {
      const { message, ...wait } = note.wait;
      return {
        pod: note.pod,
        ...wait,
        text: `has pod ${note.pod} of an older revision, and waits: ${message}`,
      };
    }
    case 'withheld': {
      const text =
        'has an available pod of an older revision; it stays until requests that may have been ' +
        'forgotten are certainly dead';
      return { code: 'WaitingForCluster', text, untilMs: note.untilMs };
    }
    case 'outdated': {
      const { pod } = note;
      const text = `has pod ${pod} of an older revision, which stays until it is deleted (OnDelete)`;
      return { code: 'Outdated', pod, text };
    }
  }
}

function describeStep(
  note: Extract<RolloutNote, { kind: 'deleting' | 'creating' }>,
  at: { readonly isSent: boolean },
): RolloutFinding {
  const { pod } = note;
  const has = `has pod ${pod} of an older revision`;
  if (!at.isSent) {
    return { code: 'WaitingForBurst', pod, text: `${has}; it is updated after the present batch` };
  }
  if (note.kind === 'creating') {
    const text = `${has}; pod ${note.name} is being created beside it`;
    return { code: 'Updating', pod, text };
  }
  const text = `${has}; it is being deleted ${WHY[note.reason]}`;
  return { code: 'Updating', pod, text };
}

function describeWaiting(
  note: Extract<RolloutNote, { kind: 'waiting' }>,
  isWanted: boolean,
): string {
  const has = `has pod ${note.pod} of an older revision`;
  const goes = isWanted ? 'it is replaced' : 'it goes';
  switch (note.for) {
    case 'unavailable':
      return `${has}; ${goes} when maxUnavailable has room for another node`;
    case 'surge':
      return `${has}; ${goes} when maxSurge has room for another node`;
    case 'supply':
      return `${has}; ${goes} when enough pods of other nodes are available`;
    case 'step':
      return `${has}; ${goes} when its step of the rollout is open (rollcall rollout status)`;
    case 'ready':
      return `${NOT_READY}; it ${has}`;
    case 'kept':
      return `${has}, and keeps it as its policy says (partition, exclude)`;
    case 'policy':
      return `${has}; the annotation rollcall.dev/rollout cannot be read, so nothing is replaced`;
  }
}

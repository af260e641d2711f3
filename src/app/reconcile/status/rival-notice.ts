/**
 * Tells on a DaemonSet that Rollcall does nothing for it, for a rival or for its own pause: a status condition, then one Event.
 *
 * The condition is written first, over what a live read shows. A run that finds it there neither writes it
 * again nor sends the Event. The write repeats the counters of that read, because they belong to the other
 * controller now.
 */
import {
  isPaused,
  noticeEvent,
  pauseNotice,
  rivalNotice,
  withPauseNotice,
} from '../../../core/status/pause-notice.ts';
import type { PauseNotice } from '../../../core/status/pause-notice.ts';
import type { Guard } from '../../../core/model/plan.ts';
import type { ClusterAccess } from '../../../ports/cluster/cluster-access.ts';
import type { Step } from '../run/context.ts';
import type { Ledger } from '../run/ledger.ts';
import { writeStatus } from './write-status.ts';
import type { StatusFor } from './write-status.ts';

interface NoticeInput extends Omit<Step, 'access'> {
  readonly ledger: Ledger;
  readonly guard: Guard;
}

/** Tells it once, if there is something to tell; answers the access that the event is written with, if there is one to write. */
export async function giveRivalNotice(input: NoticeInput): Promise<ClusterAccess | undefined> {
  const { context, subject, ledger } = input;
  const notice = noticeOf(input);
  if (notice === undefined || isPaused(subject.daemonSet.status, notice)) return undefined;
  const access = await subject.access.get();
  if (access === undefined) {
    const message = 'nobody could be told why nothing is done';
    ledger.add({ code: 'no-access', message, pace: 'backoff' });
    return undefined;
  }
  const nowMs = context.dependencies.clock.nowMs();
  const statusFor: StatusFor = ({ status }) =>
    isPaused(status, notice) ? undefined : withPauseNotice(status, notice, nowMs);
  const write = await writeStatus(statusFor, { context, subject, access });
  switch (write.kind) {
    case 'written':
      ledger.isStatusWritten = true;
      ledger.noteWritten('daemonSet', write.version);
      ledger.events.push(noticeEvent(notice));
      return access;
    case 'conflict': {
      const message = 'the DaemonSet changed since it was seen; its notice waits for another look';
      ledger.add({ code: 'status-conflict', message, pace: 'soon' });
      return undefined;
    }
    case 'gone':
      return undefined;
    case 'failed':
      ledger.add({ code: 'cluster-unavailable', message: write.message, pace: 'backoff' });
      return undefined;
  }
}

/** By the guard: what keeps the run from acting is what is told. */
function noticeOf({ subject, guard }: NoticeInput): PauseNotice | undefined {
  if (guard.kind === 'act') return undefined;
  const { rival } = subject.basis.registration;
  if (guard.code === 'rival-controller') return rival && rivalNotice(rival);
  return guard.code === 'rival-suspected' ? pauseNotice(guard.message) : undefined;
}

/**
 * Tells on a DaemonSet that Rollcall has stopped: a status condition, then one Event.
 *
 * The condition is written first, over what a live read shows. A run that finds it there neither writes it
 * again nor sends the Event. The write repeats the counters of that read, because they belong to the other
 * controller now.
 */
import {
  isPaused,
  rivalControllerEvent,
  withPauseNotice,
} from '../../../core/status/pause-notice.ts';
import type { ClusterAccess } from '../../../ports/cluster/cluster-access.ts';
import type { Step } from '../run/context.ts';
import type { Ledger } from '../run/ledger.ts';
import { writeStatus } from './write-status.ts';
import type { StatusFor } from './write-status.ts';

/** Tells it once, if there is a rival; answers the access that the event is written with, if there is one to write. */
export async function giveRivalNotice(
  input: Omit<Step, 'access'> & { readonly ledger: Ledger },
): Promise<ClusterAccess | undefined> {
  const { context, subject, ledger } = input;
  const { mode, rival } = subject.basis.registration;
  if (mode !== 'takeover' || rival === undefined || isPaused(subject.daemonSet.status))
    return undefined;
  const access = await subject.access.get();
  if (access === undefined) {
    const message = 'nobody could be told of the rival';
    ledger.add({ code: 'no-access', message, pace: 'backoff' });
    return undefined;
  }
  const nowMs = context.dependencies.clock.nowMs();
  const statusFor: StatusFor = ({ status }) =>
    isPaused(status) ? undefined : withPauseNotice(status, { rival, nowMs });
  const write = await writeStatus(statusFor, { context, subject, access });
  switch (write.kind) {
    case 'written':
      ledger.isStatusWritten = true;
      ledger.noteWritten('daemonSet', write.version);
      ledger.events.push(rivalControllerEvent(rival));
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

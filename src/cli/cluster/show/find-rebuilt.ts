/**
 * Whether a cluster was rebuilt under its old name: its watcher's messages name another cluster UID.
 *
 * Such messages are refused and recorded (one record an hour), with the UID as their detail, in the
 * cluster's own partition, because their sender is the registered one. Asked only of a cluster that is
 * not heard: a rebuilt one never is. What was recorded of the UID that is registered by now is past.
 */
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { DeadLetterStore } from '../../../ports/stores/dead-letter-store.ts';

/** What the messages said. */
export interface RebuiltNotice {
  /** As the watcher said it; registering it anew reads it from the cluster itself. */
  readonly foundUid: string;
  readonly atMs: number;
}

/** Records are kept by the hour, so one hour back may just have begun. */
const LOOK_BACK_MS = 2 * 3_600_000;
const RECORDS_MAX = 100;
const UID_PATTERN = /^[A-Za-z0-9._:-]{1,128}$/;

/** The newest notice of the last two hours, if there is one. */
export async function findRebuilt(
  { id, clusterUid }: Pick<ClusterRegistration, 'id' | 'clusterUid'>,
  deadLetters: Pick<DeadLetterStore, 'list'>,
  nowMs: number,
): Promise<RebuiltNotice | undefined> {
  const query = { sinceMs: nowMs - LOOK_BACK_MS, limit: RECORDS_MAX };
  const { letters } = await deadLetters.list(id, query);
  const notice = letters.findLast(
    ({ code, detail }) =>
      code === 'wrong-cluster-uid' && detail !== clusterUid && UID_PATTERN.test(detail),
  );
  return notice === undefined ? undefined : { foundUid: notice.detail, atMs: notice.atMs };
}

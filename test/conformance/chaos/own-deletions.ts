/** What we deleted, by the API server's audit log: with which preconditions, and when. */
import { readAuditRecords } from '../control-plane/audit.ts';
import { userNameOf } from '../control-plane/identities.ts';
import type { OwnDeletion } from './judge.ts';

/** Pods that were deleted under the functions' identity. */
export async function readOwnDeletions(auditLogPath: string): Promise<readonly OwnDeletion[]> {
  const records = await readAuditRecords(auditLogPath, {
    user: userNameOf('functions'),
    verb: 'delete',
    resource: 'pods',
    where: ({ code }) => code < 300,
  });
  return records.map(({ name, preconditions, completedAtMs }) => ({
    name,
    uid: preconditions?.uid,
    resourceVersion: preconditions?.resourceVersion,
    atMs: completedAtMs,
  }));
}

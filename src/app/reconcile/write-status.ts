/**
 * Writes the status with the version that was planned on as precondition (protocol 8, S7).
 *
 * A conflict is never retried with the same counts: whoever changed the DaemonSet causes another
 * look. The whole object is sent, because a status write also replaces labels and annotations.
 *
 * Differs from upstream: no second attempt with the same counts (spec 2.12).
 */
import type { JsonObject } from '../../core/model/json.ts';
import type { ResourceVersion } from '../../core/model/identifiers.ts';
import type { DaemonSetStatus } from '../../core/model/kubernetes.ts';
import type { ClusterAccess } from '../../ports/cluster-access.ts';
import { versionOf } from './adopt-release.ts';
import { keyOf } from './context.ts';
import type { RunContext, Subject } from './context.ts';

/** What came of it. */
export type StatusWrite =
  | {
      readonly kind: 'written';
      readonly version: ResourceVersion | undefined;
      /** As the API server has it now, with managedFields. */
      readonly object: JsonObject;
    }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly message: string; readonly retryAfterMs?: number };

/** PUT of the status of the DaemonSet that was planned on. */
export async function writeStatus(
  status: DaemonSetStatus,
  input: {
    readonly context: RunContext;
    readonly subject: Subject;
    readonly access: ClusterAccess;
  },
): Promise<StatusWrite> {
  const { context, subject, access } = input;
  const { metadata, ...rest } = subject.daemonSet;
  const { managedFields: _dropped, ...kept } = metadata as typeof metadata & {
    readonly managedFields?: unknown;
  };
  const body = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    ...rest,
    metadata: kept,
    status,
  } as unknown as JsonObject; // a typed view of raw JSON is that raw JSON again
  const [outcome] = await access.execute(
    [{ kind: 'update-status', ...keyOf(context), uid: subject.basis.ref.uid, body }],
    { deadlineMs: context.run.deadlineMs },
  );
  switch (outcome?.kind) {
    case 'done':
      return { kind: 'written', version: versionOf(outcome), object: outcome.object };
    case 'conflict':
      return { kind: 'conflict' };
    case 'gone':
      return { kind: 'gone' };
    case 'unsent':
      return { ...outcome, kind: 'failed' };
    case 'refused':
    case 'ambiguous':
      return { kind: 'failed', message: outcome.message };
    case 'exists':
    case undefined:
      return { kind: 'failed', message: 'no outcome' };
  }
}

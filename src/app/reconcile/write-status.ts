/**
 * Writes the status with the version that was planned on as precondition (protocol 8, S7).
 *
 * A conflict is never retried with the same counts: whoever changed the DaemonSet causes another
 * look. The whole object is sent, because a status write also replaces labels and annotations.
 *
 * The object is read live first, as victims are: a version may be one of a lost history (row 71).
 *
 * Differs from upstream: no second attempt with the same counts (spec 2.12); a GET before the write.
 */
import type { JsonObject } from '../../core/model/json.ts';
import type { ResourceVersion } from '../../core/model/identifiers.ts';
import type { DaemonSetStatus } from '../../core/model/kubernetes.ts';
import type { ClusterAccess } from '../../ports/cluster-access.ts';
import { versionOf } from './adopt-release.ts';
import { keyOf } from './context.ts';
import type { RunContext, Subject } from './context.ts';
import { readPlanned } from './live-planned.ts';
import type { PlannedMissing } from './live-planned.ts';

/** What came of it. */
export type StatusWrite =
  | {
      readonly kind: 'written';
      readonly version: ResourceVersion | undefined;
      /** As the API server has it now, with managedFields. */
      readonly object: JsonObject;
    }
  | PlannedMissing;

/** What a status is written with. */
interface StatusInput {
  readonly context: RunContext;
  readonly subject: Subject;
  readonly access: ClusterAccess;
}

/** PUT of the status of the DaemonSet that was planned on, if the API server still has that one. */
export async function writeStatus(
  status: DaemonSetStatus,
  input: StatusInput,
): Promise<StatusWrite> {
  const { context, subject, access } = input;
  const found = await readPlanned(input);
  if (found.kind !== 'found') return found;
  const { metadata, ...rest } = found.object;
  const { managedFields: _dropped, ...kept } = metadata as typeof metadata & {
    readonly managedFields?: unknown;
  };
  const body = {
    ...rest,
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
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

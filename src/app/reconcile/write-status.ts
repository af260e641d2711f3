/**
 * Writes the status with the version that was planned on as precondition (protocol 8, S7).
 *
 * A conflict is never retried with the same counts: whoever changed the DaemonSet causes another
 * look. The whole object is sent, because a status write also replaces labels and annotations.
 *
 * The version alone does not say that the DaemonSet is the one that was planned on: an etcd that is
 * restored gives its versions out again, and a view of the lost history may name one that the API
 * server has now for another generation (row 71). It would accept that write, compares no generation,
 * and a lost one would lead for ever. So the object is read first, as victims are. Assumed: no etcd is
 * restored, and gets as far as that version again, between this read and the write.
 *
 * Differs from upstream: no second attempt with the same counts (spec 2.12); a GET before the write.
 */
import type { JsonObject } from '../../core/model/json.ts';
import type { ResourceVersion } from '../../core/model/identifiers.ts';
import type { DaemonSetObject, DaemonSetStatus } from '../../core/model/kubernetes.ts';
import type { ClusterAccess } from '../../ports/cluster-access.ts';
import { versionOf } from './adopt-release.ts';
import { isEdited } from './confirm-edit.ts';
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
  const found = await findPlanned(input);
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

/** The live DaemonSet if the status was planned on it, or what comes of the write without one. */
async function findPlanned({
  context,
  subject,
  access,
}: StatusInput): Promise<
  | { readonly kind: 'found'; readonly object: DaemonSetObject }
  | Exclude<StatusWrite, { kind: 'written' }>
> {
  const live = await access.getDaemonSet(keyOf(context));
  if (live.kind === 'unavailable') return { ...live, kind: 'failed' };
  if (live.kind === 'missing') return { kind: 'gone' };
  if (live.object.metadata.uid !== subject.basis.ref.uid) return { kind: 'gone' };
  if (!isAsPlanned(live.object, subject.daemonSet)) return { kind: 'conflict' };
  return live;
}

/**
 * True if the status was planned on this very object. Not all of its content is compared: API servers
 * of two releases may show one stored object with different defaults.
 */
function isAsPlanned(live: DaemonSetObject, planned: DaemonSetObject): boolean {
  return (
    live.metadata.resourceVersion === planned.metadata.resourceVersion &&
    !isEdited(live, planned) &&
    live.status?.observedGeneration === planned.status?.observedGeneration
  );
}

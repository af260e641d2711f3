/**
 * Refusing a message; one that could not be read is, if its sender is verified, a loss as well.
 *
 * What it carried is unknown, so the view of its cluster is incomplete until a snapshot announced
 * from now on (protocol 18). From any other sender it is only refused: a forged body must not be able to
 * stop a cluster (S6, row 63). Poison never comes again: the record is finished here (protocol 23).
 */
import { isResourceVersion } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import { MESSAGE_SCHEMA, type WatcherHeader } from '../../../core/model/watcher-message.ts';
import { keepRefusal } from '../../refusal/keep-refusal.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import { advanced, lost, orderOf } from './meta-transitions.ts';
import { askForSnapshot, noteSnapshotRequest } from './request-snapshot.ts';
import type {
  IngestContext,
  IngestRefusalCode,
  IngestResult,
  LossReason,
  ParsedBody,
} from './result.ts';

/** Refuses a body; a verified sender's view becomes incomplete first. */
export async function ingestRefused(
  {
    parsed,
    context,
    registration,
  }: {
    readonly parsed: Extract<ParsedBody, { kind: 'refused' }>;
    readonly context: IngestContext;
    /** Undefined: the body does not say whose it is. */
    readonly registration: ClusterRegistration | undefined;
  },
  dependencies: IngestDependencies,
): Promise<IngestResult> {
  const { code, field, header } = parsed;
  if (registration !== undefined) {
    const loss = {
      reason: 'undecodable',
      arrival: { header, sentAtMs: context.sentAtMs },
    } as const;
    await markIncomplete(registration, loss, dependencies);
  }
  return refuse({ code, field, cluster: registration?.id ?? '' }, context, dependencies);
}

/** A loss that came to light outside the stream of messages. */
interface Loss {
  readonly reason: LossReason;
  /** The lost message, as far as its header could be read. */
  readonly arrival?: { readonly header: Partial<WatcherHeader>; readonly sentAtMs: number };
}

/**
 * Marks a cluster's view incomplete and asks for a snapshot. `ignored` when there is no view yet, or
 * when the lost message was of an overtaken watcher or was handled before.
 */
export async function markIncomplete(
  registration: ClusterRegistration,
  loss: Loss,
  dependencies: IngestDependencies,
): Promise<'marked' | 'ignored'> {
  const { view, options, log, metrics } = dependencies;
  const { reason } = loss;
  for (let attempt = 0; attempt < options.writeTriesMax; attempt += 1) {
    const stored = await view.readMeta(registration.clusterUid);
    if (stored === undefined) return 'ignored';
    const next = afterLoss(stored, loss, registration);
    if (next === undefined) return 'ignored';
    const { meta, mayAsk } = noteSnapshotRequest(next, { reason, since: 'now' }, dependencies);
    if ((await view.writeMeta(meta)) === 'lost') continue;
    metrics.count('ViewLosses', { outcome: reason });
    log.warn('view incomplete', { cluster: registration.id, reason, broken: meta.broken });
    if (mayAsk) await askForSnapshot(registration, dependencies);
    return 'marked';
  }
  throw new Error(`META of ${registration.id}: lost ${options.writeTriesMax} compare-and-sets`);
}

function afterLoss(
  meta: ClusterMeta,
  { reason, arrival }: Loss,
  registration: ClusterRegistration,
): ClusterMeta | undefined {
  if (arrival === undefined) return lost(meta, reason);
  const { epoch, incarnation, seq } = arrival.header;
  if (!isResourceVersion(epoch) || incarnation === undefined || seq === undefined) {
    return lost(meta, reason);
  }
  const header: WatcherHeader = {
    schema: MESSAGE_SCHEMA,
    cluster: registration.id,
    clusterUid: registration.clusterUid,
    epoch,
    incarnation,
    seq,
  };
  const order = orderOf(meta, header);
  if (order === 'duplicate' || order === 'older-epoch') return undefined;
  return lost(advanced(meta, { header, sentAtMs: arrival.sentAtMs }), reason);
}

interface Refusal {
  readonly code: IngestRefusalCode;
  /** Dotted path of what was refused; empty or absent for the whole. */
  readonly field?: string;
  /** What is noted besides the field, e.g. which cluster UID the message named. */
  readonly detail?: string | undefined;
  /** As the message names it: unverified. */
  readonly cluster: string;
}

/**
 * Logs, counts and notes a refusal; nothing of any view is touched (S6, L4). Rejects when that of a
 * verified sender cannot be noted; what a forger sent never comes again.
 */
export async function refuse(
  refusal: Refusal,
  context: IngestContext,
  ports: Pick<IngestDependencies, 'registry' | 'log' | 'metrics'>,
): Promise<IngestResult> {
  const { code, cluster, field = '', detail = field } = refusal;
  const { messageId, sentAtMs, senderRoleId } = context;
  ports.log.warn('message refused', { code, field, cluster, messageId, senderRoleId });
  ports.metrics.count('IngestRefusals', { outcome: code });
  await keepRefusal(
    { messageId, sentAtMs, senderRoleId, cluster, queue: 'ingest', code, detail },
    ports,
  );
  return { kind: 'refused', code, ...(field === '' ? {} : { field }) };
}

/**
 * `dead-letter`: what a queue gave up is classified, recorded and counted.
 *
 * A lost event may have changed anything, so its cluster's view is incomplete until a snapshot that is
 * announced afterwards, unless the view rests on an announcement that came later than the event
 * (protocol 18, row 83). Only a verified sender's letter can do that (S6). A lost hint is recorded;
 * `resync` hints every key anyway. So is a lost token: its cluster sends another one soon. Nobody has
 * verified who sent it, nor that it is sealed, so its record is apart from every cluster's and has no
 * body (S11). Nothing is sent back into a queue here.
 */
import { compareResourceVersions, isResourceVersion } from '../core/model/identifiers.ts';
import type { ClusterMeta } from '../core/model/view-items.ts';
import type { WatcherHeader } from '../core/model/watcher-message.ts';
import type { DeadLetterRecord } from '../ports/registry-store.ts';
import type { IngestDependencies } from './ingest/dependencies.ts';
import { verifySender } from './ingest/identity.ts';
import { markIncomplete } from './ingest/ingest-refused.ts';
import type { IngestContext, ParsedBody } from './ingest/result.ts';

/** A message that a queue gave up. */
export type DeadLetter =
  | { readonly queue: 'events'; readonly context: IngestContext; readonly parsed: ParsedBody }
  | {
      readonly queue: 'reconcile' | 'delay';
      readonly messageId: string;
      readonly sentAtMs: number;
      readonly body: string;
      /** Cluster of the hint, when its body could be read. */
      readonly cluster?: string;
    }
  | {
      readonly queue: 'credentials';
      readonly messageId: string;
      readonly sentAtMs: number;
      /** As SQS says; undefined when it has no readable form. */
      readonly senderRoleId: string | undefined;
    };

/** What came of it. */
export type DeadLetterResult =
  | {
      readonly kind: 'recorded';
      readonly code: 'lost-hint' | 'lost-event' | 'lost-credential' | 'unverified-event';
    }
  | { readonly kind: 'view-incomplete'; readonly code: 'lost-event' }
  | { readonly kind: 'outdated'; readonly code: 'older-than-announcement' };

/** Classifies, records and counts one dead letter. Rejects when a dependency is lost. */
export async function handleDeadLetter(
  letter: DeadLetter,
  dependencies: IngestDependencies,
): Promise<DeadLetterResult> {
  const { registry, log, metrics } = dependencies;
  const result = await classify(letter, dependencies);
  const messageId = letter.queue === 'events' ? letter.context.messageId : letter.messageId;
  const cluster = claimedCluster(letter);
  log.warn('dead letter', { queue: letter.queue, code: result.code, cluster, messageId });
  metrics.count('DeadLetters', { outcome: `${letter.queue}/${result.code}` });
  await registry.recordDeadLetter({
    ...originOf(letter, result, cluster),
    queue: letter.queue,
    code: result.code,
    messageId,
    ...contentOf(letter),
  });
  return result;
}

async function classify(
  letter: DeadLetter,
  dependencies: IngestDependencies,
): Promise<DeadLetterResult> {
  if (letter.queue === 'events') return handleLostEvent(letter, dependencies);
  return {
    kind: 'recorded',
    code: letter.queue === 'credentials' ? 'lost-credential' : 'lost-hint',
  };
}

/** The cluster that the message names; empty when that could not be read. */
function claimedCluster(letter: DeadLetter): string {
  if (letter.queue === 'events') return headerOf(letter.parsed).cluster ?? '';
  return letter.queue === 'credentials' ? '' : (letter.cluster ?? '');
}

/** Whose record it is: that of the cluster, unless the sender may not speak for it. */
function originOf(
  letter: DeadLetter,
  { code }: DeadLetterResult,
  cluster: string,
): Pick<DeadLetterRecord, 'cluster' | 'claim'> {
  if (letter.queue === 'credentials') {
    return { cluster: '', claim: { cluster, senderRoleId: letter.senderRoleId } };
  }
  if (letter.queue !== 'events' || code !== 'unverified-event') return { cluster };
  return { cluster: '', claim: { cluster, senderRoleId: letter.context.senderRoleId } };
}

function contentOf(letter: DeadLetter): Pick<DeadLetterRecord, 'detail' | 'atMs' | 'body'> {
  if (letter.queue === 'credentials') return { detail: '', atMs: letter.sentAtMs, body: '' };
  if (letter.queue !== 'events') return { detail: '', atMs: letter.sentAtMs, body: letter.body };
  const { sentAtMs, body = '' } = letter.context;
  return { detail: detailOf(letter.parsed), atMs: sentAtMs, body };
}

async function handleLostEvent(
  letter: Extract<DeadLetter, { queue: 'events' }>,
  dependencies: IngestDependencies,
): Promise<DeadLetterResult> {
  const header = headerOf(letter.parsed);
  const { cluster, clusterUid } = header;
  if (cluster === undefined) return { kind: 'recorded', code: 'unverified-event' };
  const claim = { cluster, ...(clusterUid === undefined ? {} : { clusterUid }) };
  const verification = await verifySender(claim, letter.context, dependencies);
  if (verification.kind === 'refused') return { kind: 'recorded', code: 'unverified-event' };
  const { registration } = verification;
  const meta = await dependencies.view.readMeta(registration.clusterUid);
  if (meta !== undefined && isOutdated(header, meta)) {
    return { kind: 'outdated', code: 'older-than-announcement' };
  }
  const marked = await markIncomplete(registration, { reason: 'dead-letter' }, dependencies);
  return { kind: marked === 'marked' ? 'view-incomplete' : 'recorded', code: 'lost-event' };
}

/** True when the view rests, or will rest, on an announcement that came after this message. */
function isOutdated(header: Partial<WatcherHeader>, meta: ClusterMeta): boolean {
  const { epoch, incarnation, seq } = header;
  if (!isResourceVersion(epoch) || seq === undefined) return false;
  const difference = compareResourceVersions(epoch, meta.epoch);
  if (difference !== 0 || incarnation !== meta.incarnation) return difference < 0;
  const announcedSeq = meta.snapshot?.announcedSeq ?? meta.announcedSeq;
  return announcedSeq !== undefined && seq < announcedSeq;
}

function headerOf(parsed: ParsedBody): Partial<WatcherHeader> {
  return parsed.kind === 'message' ? parsed.message : parsed.header;
}

function detailOf(parsed: ParsedBody): string {
  return parsed.kind === 'refused'
    ? `${parsed.code} ${parsed.field}`.trim()
    : parsed.message.body.kind;
}

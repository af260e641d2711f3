/**
 * `dead-letter`: what a queue gave up is classified, logged and counted, and its effect made up
 * for.
 *
 * A lost event may have changed anything, so its cluster's view is incomplete until a snapshot that
 * is announced afterwards, unless the view rests on an announcement that came later than the event
 * (protocol 18, row 83). Only a verified sender's letter can do that (S6). The key of a lost hint
 * or timer is looked at again some ten minutes later, if its cluster is still registered: by one
 * far timer, which letters of one key share, so that poison turns slowly (core/hints/looks.ts). No
 * body is sent again, and none is logged. A lost token is counted alone: its cluster sends another
 * one soon.
 */
import { lookAfterLostHint } from '../../core/hints/looks.ts';
import { HINT_SCHEMA, type Hint } from '../../core/model/hint.ts';
import { compareResourceVersions, isResourceVersion } from '../../core/model/identifiers.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { WatcherHeader } from '../../core/model/watcher-message.ts';
import type { HintQueue } from '../../ports/queues/queue.ts';
import type { IngestDependencies } from '../ingest/process/dependencies.ts';
import { verifySender } from '../ingest/message/identity.ts';
import { markIncomplete } from '../ingest/message/ingest-refused.ts';
import type { IngestContext, ParsedBody } from '../ingest/message/result.ts';

/** A message that a queue gave up. */
export type DeadLetter =
  | { readonly queue: 'events'; readonly context: IngestContext; readonly parsed: ParsedBody }
  | {
      readonly queue: 'reconcile' | 'delay';
      readonly messageId: string;
      /** What the hint or timer was about, when its body could be read. */
      readonly lost?: Pick<Hint, 'key' | 'clusterUid'>;
    }
  | {
      readonly queue: 'credentials';
      readonly messageId: string;
      /** As SQS says; undefined when it has no readable form. */
      readonly senderRoleId: string | undefined;
    };

export type DeadLetterResult =
  | {
      readonly kind: 'counted';
      readonly code: 'lost-hint' | 'lost-event' | 'lost-credential' | 'unverified-event';
    }
  | { readonly kind: 'view-incomplete'; readonly code: 'lost-event' }
  /** A timer for its key is on its way. */
  | { readonly kind: 'look-again'; readonly code: 'lost-hint' }
  | { readonly kind: 'outdated'; readonly code: 'older-than-announcement' };

export type DeadLetterDependencies = IngestDependencies & {
  readonly queue: Pick<HintQueue, 'sendTimers'>;
};

/** Classifies, logs and counts one dead letter. Rejects when a dependency is lost. */
export async function handleDeadLetter(
  letter: DeadLetter,
  dependencies: DeadLetterDependencies,
): Promise<DeadLetterResult> {
  const { log, metrics } = dependencies;
  const { queue } = letter;
  const result = await classify(letter, dependencies);
  log.warn('dead letter', { queue, code: result.code, ...detailsOf(letter) });
  metrics.count('DeadLetters', { outcome: `${queue}/${result.code}` });
  return result;
}

async function classify(
  letter: DeadLetter,
  dependencies: DeadLetterDependencies,
): Promise<DeadLetterResult> {
  switch (letter.queue) {
    case 'events':
      return handleLostEvent(letter, dependencies);
    case 'credentials':
      return { kind: 'counted', code: 'lost-credential' };
    case 'reconcile':
    case 'delay':
      return handleLostHint(letter, dependencies);
  }
}

/** Repeated for a letter that comes again: the same look, under the same id. */
async function handleLostHint(
  { lost }: Extract<DeadLetter, { queue: 'reconcile' | 'delay' }>,
  { registry, queue, clock }: DeadLetterDependencies,
): Promise<DeadLetterResult> {
  const code = 'lost-hint';
  if (lost === undefined) return { kind: 'counted', code };
  const { key, clusterUid } = lost;
  const registration = await registry.readCluster(key.cluster);
  if (registration?.clusterUid !== clusterUid) return { kind: 'counted', code };
  const dueAtMs = lookAfterLostHint(key, clock.nowMs());
  const hint: Hint = { schema: HINT_SCHEMA, key, clusterUid, reason: 'retry' };
  const timerId = `lost-${dueAtMs}`;
  await queue.sendTimers([{ schema: HINT_SCHEMA, hint, timerId, dueAtMs, hops: 0 }]);
  return { kind: 'look-again', code };
}

/** What a person needs to find it: whose it claims to be, and what it was about. */
function detailsOf(letter: DeadLetter): Readonly<Record<string, string | undefined>> {
  if (letter.queue === 'credentials') {
    const { messageId, senderRoleId } = letter;
    return { messageId, senderRoleId };
  }
  if (letter.queue !== 'events') {
    const { messageId, lost } = letter;
    const key = lost === undefined ? undefined : `${lost.key.namespace}/${lost.key.name}`;
    return { messageId, cluster: lost?.key.cluster, key };
  }
  const { parsed } = letter;
  const { messageId, senderRoleId } = letter.context;
  const content = parsed.kind === 'message' ? parsed.message.body.kind : parsed.code;
  return { messageId, senderRoleId, cluster: headerOf(parsed).cluster, content };
}

async function handleLostEvent(
  letter: Extract<DeadLetter, { queue: 'events' }>,
  dependencies: IngestDependencies,
): Promise<DeadLetterResult> {
  const header = headerOf(letter.parsed);
  const { cluster, clusterUid } = header;
  if (cluster === undefined) return { kind: 'counted', code: 'unverified-event' };
  const claim = { cluster, clusterUid };
  const verification = await verifySender(claim, letter.context, dependencies);
  if (verification.kind === 'refused') return { kind: 'counted', code: 'unverified-event' };
  const { registration } = verification;
  const meta = await dependencies.view.readMeta(registration.clusterUid);
  if (meta !== undefined && isOutdated(header, meta)) {
    return { kind: 'outdated', code: 'older-than-announcement' };
  }
  const marked = await markIncomplete(registration, { reason: 'dead-letter' }, dependencies);
  return { kind: marked === 'marked' ? 'view-incomplete' : 'counted', code: 'lost-event' };
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

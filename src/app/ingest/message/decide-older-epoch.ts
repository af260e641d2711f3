/**
 * A message of a lower epoch: a watcher that was overtaken, or an etcd that went back in time.
 *
 * Only the Lease can tell (protocol 15, rows 71, 72): if it names the sender, a new era begins. The
 * read is limited in rate; an announcement that meets the limit, or an API server that is away for a
 * moment, comes again instead of being dropped, because a quiet cluster would not send another for
 * long; it is dropped in the end, because others wait behind it. Without a credential nobody can act on the
 * cluster anyway: then ten minutes of silence of the stored epoch, by the queue's clock, decide.
 */
import { isOpen } from '../../../core/model/breaker.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import type { Incoming } from './incoming.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import { mayCheckLease, readLeaseHolder } from './lease-check.ts';

/** So long an announcement waits for an API server that cannot be reached, and its group with it. */
const LEASE_PATIENCE_MS = 60_000;

/** What becomes of a message of a lower epoch. */
export type OlderEpochDecision =
  | { readonly kind: 'accept'; readonly meta: ClusterMeta }
  | { readonly kind: 'stale'; readonly meta?: ClusterMeta }
  | { readonly kind: 'defer' };

/** Decides over the META that was read; `meta` in the answer notes the check. */
export async function decideOlderEpoch(
  { message, context, registration }: Incoming,
  meta: ClusterMeta,
  dependencies: IngestDependencies,
): Promise<OlderEpochDecision> {
  const { clock, options } = dependencies;
  if (registration.authentication.kind === 'none') return bySilence();
  if (!mayCheckLease(meta, message.incarnation, dependencies)) {
    return message.body.kind === 'announcement' ? { kind: 'defer' } : { kind: 'stale' };
  }
  const answer = isOpen(meta.breaker, clock.nowMs())
    ? 'unavailable'
    : await readLeaseHolder(message.incarnation, registration, dependencies);
  if (answer === 'no-credential') return bySilence();
  const isYoung = clock.nowMs() - context.sentAtMs < LEASE_PATIENCE_MS;
  if (answer === 'unavailable' && isYoung && message.body.kind === 'announcement') {
    return { kind: 'defer' };
  }
  const checked = {
    ...meta,
    leaseCheckedAtMs: clock.nowMs(),
    leaseCheckedFor: message.incarnation,
  };
  return { kind: answer === 'holder' ? 'accept' : 'stale', meta: checked };

  function bySilence(): OlderEpochDecision {
    const silentMs = context.sentAtMs - meta.lastSentAtMs;
    return silentMs >= options.epochSilenceMs ? { kind: 'accept', meta } : { kind: 'stale' };
  }
}

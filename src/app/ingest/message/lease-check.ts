/**
 * Who holds the watcher's Lease now: the live read that tells a zombie from a restored etcd.
 *
 * A message of a lower epoch is dropped unless the Lease names its incarnation (protocol 15). Without
 * a credential nothing can be read, and nothing can be done to the cluster either: the answer is then
 * left to the silence of the stored epoch. Reading is limited in rate by META.
 */
import type { Incarnation } from '../../../core/model/identifiers.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import { withinTalkBound } from '../process/background-work.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import { isOpen } from '../../../core/model/breaker.ts';
import type { Incoming } from './meta-transitions.ts';

type LeaseAnswer = 'holder' | 'other-holder' | 'no-credential' | 'unavailable';

/** Reads the Lease live. Never rejects for an expected outcome. */
export async function readLeaseHolder(
  incarnation: Incarnation,
  registration: ClusterRegistration,
  { connector, metrics, clock }: Pick<IngestDependencies, 'connector' | 'metrics' | 'clock'>,
): Promise<LeaseAnswer> {
  const reading = read(incarnation, registration, connector);
  const answer = await withinTalkBound(reading, 'unavailable', { clock });
  metrics.count('LeaseChecks', { outcome: answer });
  return answer;
}

async function read(
  incarnation: Incarnation,
  registration: ClusterRegistration,
  connector: IngestDependencies['connector'],
): Promise<LeaseAnswer> {
  if (registration.authentication.kind === 'none') return 'no-credential';
  const connection = await connector.connect(registration);
  if (connection.kind === 'refused') {
    return connection.refusal.kind === 'no-credential' ? 'no-credential' : 'unavailable';
  }
  const lease = await connection.access.getWatcherLease();
  if (lease.kind === 'missing') return 'other-holder';
  if (lease.kind === 'unavailable') return 'unavailable';
  return isHeldBy(lease.object, incarnation) ? 'holder' : 'other-holder';
}

function isHeldBy(lease: KubernetesObject, incarnation: Incarnation): boolean {
  const spec = lease['spec'];
  return isJsonObject(spec) && spec['holderIdentity'] === incarnation;
}

/** True when the Lease may be read again for a message of a lower epoch. */
export function mayCheckLease(
  meta: ClusterMeta,
  incarnation: Incarnation,
  { clock, options }: Pick<IngestDependencies, 'clock' | 'options'>,
): boolean {
  const { leaseCheckedAtMs, leaseCheckedFor } = meta;
  if (leaseCheckedAtMs === undefined) return true;
  const sinceMs = clock.nowMs() - leaseCheckedAtMs;
  const intervalMs =
    leaseCheckedFor === incarnation ? options.leaseCheckEveryMs : options.leaseCheckOtherEveryMs;
  // A wall clock that stepped back must not hold the check for as long as it stepped.
  return sinceMs >= intervalMs || sinceMs < 0;
}

/** So long an announcement waits for an API server that cannot be reached, and its group with it. */
const LEASE_PATIENCE_MS = 60_000;

type OlderEpochDecision =
  | { readonly kind: 'accept'; readonly meta: ClusterMeta }
  | { readonly kind: 'stale'; readonly meta?: ClusterMeta }
  | { readonly kind: 'defer' };

/**
 * Decides on a message of a lower epoch: a watcher that was overtaken, or an etcd that went back in time. Only
 * the Lease can tell (protocol 15, rows 71, 72). An announcement that meets the limit, or an API server that is
 * away for a moment, comes again, because a quiet cluster would not send another for long; it is dropped in the
 * end, because others wait behind it. `meta` in the answer notes the check.
 */
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

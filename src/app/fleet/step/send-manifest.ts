/**
 * Sends one manifest to one cluster, or asks by a dry run, and says what the answer means. Never
 * rejects. Nothing is forced unless the strategy says so. What can never succeed is a failure; all
 * else may be sent again.
 */
import { counted } from '@rollcall/base/counted.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { FleetManifest } from '../../../core/fleet/fleet-daemon-set.ts';
import type { ClusterFailureCause } from '../../../core/fleet/rollout/failure-class.ts';
import type { StartLimits } from '../../../core/pod/request-life.ts';
import type { ConnectRefusal } from '../../../ports/cluster/cluster-access.ts';
import { takesNoDryRun } from '../check/ask-clusters.ts';
import { sendAtVersion } from '../send-at-version.ts';
import type { SentOutcome } from '../send-at-version.ts';
import type { StepFleetsDependencies } from '../observe/dependencies.ts';

interface Sending {
  readonly registration: ClusterRegistration;
  readonly manifest: FleetManifest;
  /** Takes fields that others own. */
  readonly isForced: boolean;
  /** Nothing is kept of it. */
  readonly isDryRun: boolean;
  /** No request starts after these. */
  readonly limits: StartLimits;
}

export type Answer =
  | { readonly kind: 'applied'; readonly generation: number }
  | { readonly kind: 'failed'; readonly cause: ClusterFailureCause; readonly message: string }
  | { readonly kind: 'unanswered'; readonly message: string; readonly retryAfterMs?: number };

export async function sendManifest(
  { registration, manifest, isForced, isDryRun, limits }: Sending,
  { connector }: Pick<StepFleetsDependencies, 'connector'>,
): Promise<Answer> {
  const connected = await connector.connect(registration);
  if (connected.kind === 'refused') return refusedAnswer(connected.refusal);
  const options = { isDryRun, isForced, ...limits };
  const sent = await sendAtVersion(connected.access, manifest, options);
  if (isDryRun && sent.kind === 'refused' && takesNoDryRun(sent)) {
    return { kind: 'unanswered', message: sent.message };
  }
  return answerOf(sent);
}

function answerOf(outcome: SentOutcome): Answer {
  switch (outcome.kind) {
    case 'unread':
      return outcome.isRefused
        ? { kind: 'failed', cause: 'Refused', message: outcome.message }
        : { kind: 'unanswered', message: outcome.message };
    case 'applied':
      return { kind: 'applied', generation: outcome.object.metadata.generation ?? 0 };
    case 'conflict': {
      const [{ manager, field }, ...others] = outcome.conflicts;
      const more = others.length === 0 ? '' : ` and ${counted(others.length, 'more field')}`;
      const message = `${manager} owns ${field}${more}; nothing was changed`;
      return { kind: 'failed', cause: 'Conflict', message };
    }
    case 'refused':
      return { kind: 'failed', cause: 'Refused', message: outcome.message };
    case 'changed':
      return { kind: 'unanswered', message: 'another client changed it at the same time' };
    case 'unavailable': {
      const { message, retryAfterMs } = outcome;
      return {
        kind: 'unanswered',
        message,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      };
    }
  }
}

/** What is wrong with the registration stays wrong until somebody changes it; an outage passes. */
function refusedAnswer(refusal: ConnectRefusal): Answer {
  if (refusal.kind === 'unavailable') return { kind: 'unanswered', message: refusal.message };
  if (refusal.kind === 'no-token') {
    return { kind: 'unanswered', message: `the functions have no token for it (${refusal.fault})` };
  }
  return { kind: 'failed', cause: 'Refused', message: `it cannot be reached: ${refusal.kind}` };
}

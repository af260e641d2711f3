/**
 * Sends one manifest to one cluster, or asks by a dry run, and says what the answer means: one way
 * for steps and checks, so that a check says what a step will meet. Never rejects. Nothing is
 * forced unless the strategy says so. What can never succeed is a failure; all else may be sent
 * again.
 */
import { counted } from '@rollcall/base/counted.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { FleetManifest } from '../../core/fleet/fleet-daemon-set.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { StartLimits } from '../../core/pod/request-life.ts';
import type {
  ClusterAccess,
  ClusterConnector,
  ConnectRefusal,
  Unavailable,
} from '../../ports/cluster/cluster-access.ts';
import type {
  ApplyOptions,
  FieldConflict,
  ManifestOutcome,
} from '../../ports/cluster/manifest-access.ts';

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

/** What came of it. */
export type Answer =
  | { readonly kind: 'applied'; readonly generation: number }
  | {
      readonly kind: 'failed';
      readonly cause: 'Conflict';
      readonly message: string;
      readonly conflicts: readonly FieldConflict[];
    }
  | {
      readonly kind: 'failed';
      readonly cause: 'Refused';
      readonly message: string;
      /** Of the answer to the manifest; absent: the cluster was not asked about it. */
      readonly status?: number;
    }
  | { readonly kind: 'unanswered'; readonly message: string; readonly retryAfterMs?: number };

/** Sends it. */
export async function sendManifest(
  { registration, manifest, isForced, isDryRun, limits }: Sending,
  { connector }: { readonly connector: Pick<ClusterConnector, 'connect'> },
): Promise<Answer> {
  const connected = await connector.connect(registration);
  if (connected.kind === 'refused') return unconnected(connected.refusal);
  const options = { isDryRun, isForced, ...limits };
  const sent = await sendAtVersion(connected.access, manifest, options);
  if (isDryRun && sent.kind === 'refused' && takesNoDryRun(sent)) {
    return { kind: 'unanswered', message: sent.message };
  }
  return answerOf(sent);
}

/** `unread`: the DaemonSet could not be read, and nothing was sent. */
type SentOutcome = ManifestOutcome | (Omit<Unavailable, 'kind'> & { readonly kind: 'unread' });

/**
 * At the version of the DaemonSet just read: a request that arrives late finds another version or
 * object, and changes nothing. Never rejects.
 */
export async function sendAtVersion(
  access: Pick<ClusterAccess, 'getDaemonSet' | 'applyDaemonSet'>,
  manifest: FleetManifest,
  options: Omit<ApplyOptions, 'resourceVersion' | 'uid'>,
): Promise<SentOutcome> {
  const { namespace, name } = manifest.metadata;
  const live = await access.getDaemonSet({ namespace, name });
  if (live.kind === 'unavailable') return { ...live, kind: 'unread' };
  if (live.kind === 'missing') return access.applyDaemonSet(manifest, options);
  const { resourceVersion, uid } = live.object.metadata;
  return access.applyDaemonSet(manifest, { ...options, resourceVersion, uid });
}

/** As the API server words it (apiserver, webhook/errors): what the webhook would say is not known. */
function takesNoDryRun({
  status,
  message,
}: Extract<ManifestOutcome, { readonly kind: 'refused' }>): boolean {
  return status === 400 && message.includes('does not support dry run');
}

function answerOf(outcome: SentOutcome): Answer {
  switch (outcome.kind) {
    case 'unread':
      return outcome.isRefused ? refused(outcome.message) : unanswered(outcome.message);
    case 'applied':
      return { kind: 'applied', generation: outcome.object.metadata.generation ?? 0 };
    case 'conflict': {
      const { conflicts } = outcome;
      const [{ manager, field }, ...others] = conflicts;
      const more = others.length === 0 ? '' : ` and ${counted(others.length, 'more field')}`;
      const message = `${manager} owns ${field}${more}; nothing was changed`;
      return { kind: 'failed', cause: 'Conflict', message, conflicts };
    }
    case 'refused':
      return refused(outcome.message, outcome.status);
    case 'changed':
      return unanswered('another client changed it at the same time');
    case 'unavailable':
      return unanswered(outcome.message, outcome.retryAfterMs);
  }
}

/** A fault of the registration stays until an operator changes it; an outage passes. */
function unconnected(refusal: ConnectRefusal): Answer {
  switch (refusal.kind) {
    case 'unavailable':
      return unanswered(refusal.message);
    case 'no-token':
      return unanswered(`there is no usable token for it (${refusal.fault})`);
    case 'no-credential':
      return refused('there is no credential for it here');
    case 'wrong-cluster':
      return refused('another cluster answers at its address');
    case 'egress-refused': {
      const { field, reason } = refusal;
      return refused(`its address may not be connected to (${field}: ${reason})`);
    }
  }
}

function refused(message: string, status?: number): Answer {
  return { kind: 'failed', cause: 'Refused', message, ...defined({ status }) };
}

function unanswered(message: string, retryAfterMs?: number): Answer {
  return { kind: 'unanswered', message, ...defined({ retryAfterMs }) };
}

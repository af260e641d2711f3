/**
 * The watcher's Lease as an object: who holds it, what was asked for through it, and how to write it.
 *
 * Foreign annotations, labels and fields are kept (protocol 14). Times in it are for people and for the
 * comparison "has it changed", never for arithmetic between two clocks. Those of one holder only grow, even
 * where its clock is put back, so that an earlier one tells that etcd was restored (protocol 15).
 */
import { compareResourceVersions, isResourceVersion } from '../../core/model/identifiers.ts';
import type { Incarnation, ResourceVersion } from '../../core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { INSTALLATION_ANNOTATION, isInstallation } from '../../core/may-act/installation.ts';
import { isToken } from '../../core/projections/wire-bounds.ts';

/** Name of the Lease, and its namespace (design 8). */
export const WATCHER_LEASE = { namespace: 'rollcall-system', name: 'rollcall-watcher' } as const;
/** Annotation by which functions ask for a snapshot; its value is the request id (design 2). */
export const SNAPSHOT_REQUESTED_ANNOTATION = 'rollcall.dev/snapshot-requested';

/** A renewal further ahead of the holder's clock was written by another client, or by a clock that was wrong. */
const RENEWED_AHEAD_MS_MAX = 86_400_000;

/** The part of a Lease that the watcher reads. */
export interface LeaseFacts {
  /** Undefined without a holder: never held, or released. */
  readonly holder: string | undefined;
  /** Of its holder, or of who gave it back; undefined: it names none that can be one. */
  readonly installation: string | undefined;
  readonly version: ResourceVersion | undefined;
  readonly requestId: string | undefined;
  /** Since when its holder has it, in the holder's words. */
  readonly acquiredAt: string | undefined;
  /** Equal as long as it was not renewed. */
  readonly pulse: string;
  /** When its holder renewed it, by the holder's clock; undefined: nothing that can be read as a time. */
  readonly renewedMs: number | undefined;
}

/** Reads a Lease that an API server returned. */
export function leaseFacts(lease: KubernetesObject): LeaseFacts {
  const spec = specOf(lease);
  const holder = spec['holderIdentity'];
  const version: unknown = lease.metadata.resourceVersion;
  const requestId: unknown = lease.metadata.annotations?.[SNAPSHOT_REQUESTED_ANNOTATION];
  const installation: unknown = lease.metadata.annotations?.[INSTALLATION_ANNOTATION];
  return {
    holder: typeof holder === 'string' && holder !== '' ? holder : undefined,
    installation:
      typeof installation === 'string' && isInstallation(installation) ? installation : undefined,
    version: isResourceVersion(version) ? version : undefined,
    // Any client with the right may write nonsense into the Lease: it must not spoil the announcement.
    requestId: typeof requestId === 'string' && isToken(requestId) ? requestId : undefined,
    acquiredAt: typeof spec['acquireTime'] === 'string' ? spec['acquireTime'] : undefined,
    pulse: `${String(holder)}@${String(spec['renewTime'])}`,
    renewedMs: renewedMsOf(spec),
  };
}

/** The Lease as this incarnation takes or renews it; `former` is what was read or written last. */
export function leaseHeldBy(
  incarnation: Incarnation,
  options: {
    readonly former: KubernetesObject | undefined;
    readonly nowMs: number;
    readonly durationSeconds: number;
    readonly installation?: string;
  },
): KubernetesObject {
  const { former, nowMs, durationSeconds, installation } = options;
  const spec = former === undefined ? {} : specOf(former);
  const isTakeover = spec['holderIdentity'] !== incarnation;
  const time = microTime(isTakeover ? nowMs : renewalMs(renewedMsOf(spec), nowMs));
  const transitions = typeof spec['leaseTransitions'] === 'number' ? spec['leaseTransitions'] : 0;
  return {
    ...former,
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    // A Lease without version is created; what the API server fills in is then absent.
    metadata: {
      ...((former?.metadata ?? WATCHER_LEASE) as KubernetesObject['metadata']),
      ...namedAfter(former, installation),
    },
    spec: {
      ...spec,
      holderIdentity: incarnation,
      leaseDurationSeconds: durationSeconds,
      renewTime: time,
      ...(isTakeover ? { acquireTime: time, leaseTransitions: transitions + 1 } : {}),
    },
  };
}

/**
 * The Lease as its holder gives it back: without a holder, as of now. An empty holder is how every Kubernetes
 * component says that; duration and transitions stay, so that a reader of any kind understands the rest.
 */
export function leaseReleased(held: KubernetesObject, nowMs: number): KubernetesObject {
  return { ...held, spec: { ...specOf(held), holderIdentity: '', renewTime: microTime(nowMs) } };
}

/** A holder without an installation removes the name of another. */
function namedAfter(
  former: KubernetesObject | undefined,
  installation: string | undefined,
): Pick<KubernetesObject['metadata'], 'annotations'> {
  const { [INSTALLATION_ANNOTATION]: named, ...others } = former?.metadata.annotations ?? {};
  if (installation !== undefined)
    return { annotations: { ...others, [INSTALLATION_ANNOTATION]: installation } };
  return named === undefined ? {} : { annotations: others };
}

export function versionOf(lease: KubernetesObject): ResourceVersion | undefined {
  return leaseFacts(lease).version;
}

/** Whether it is older than this version: of a history that etcd has lost, or of before. */
export function isBelow(facts: LeaseFacts, own: ResourceVersion | undefined): boolean {
  if (facts.version === undefined || own === undefined) return false;
  return compareResourceVersions(facts.version, own) < 0;
}

/** A holder's renewals only grow (lease-object.ts), so an earlier one stood before those that are gone. */
export function isRenewedBefore(facts: LeaseFacts, held: LeaseFacts): boolean {
  if (facts.renewedMs === undefined || held.renewedMs === undefined) return false;
  return facts.renewedMs < held.renewedMs;
}

function specOf(lease: KubernetesObject): Readonly<Record<string, unknown>> {
  const spec = lease['spec'];
  return typeof spec === 'object' && spec !== null ? (spec as Record<string, unknown>) : {};
}

/** After the renewal before it, also by a clock that was put back. */
function renewalMs(formerMs: number | undefined, nowMs: number): number {
  const isUsable = formerMs !== undefined && formerMs - nowMs <= RENEWED_AHEAD_MS_MAX;
  return isUsable ? Math.max(nowMs, formerMs + 1) : nowMs;
}

function renewedMsOf(spec: Readonly<Record<string, unknown>>): number | undefined {
  const time = spec['renewTime'];
  const renewedMs = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(renewedMs) ? undefined : renewedMs;
}

/** RFC 3339 with microseconds: the API server takes no other precision here. */
function microTime(nowMs: number): string {
  return new Date(nowMs).toISOString().replace('Z', '000Z');
}

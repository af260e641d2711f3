/**
 * Server-side apply of a manifest: its request with its fence, and what of its conflicts is no conflict (ADR 0066).
 *
 * UID and resourceVersion of what was read go into the object itself; an API server compares both. What a cluster writes into
 * metadata is left out: managedFields would be refused, a version of another cluster would be a fence against nothing.
 * JSON is valid YAML.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { FleetManifest } from '../../../core/fleet/fleet-daemon-set.ts';
import { isResourceVersion } from '../../../core/model/identifiers.ts';
import { FIELD_MANAGER } from '../../../ports/cluster/manifest-access.ts';
import type { ApplyOptions, ManifestOutcome } from '../../../ports/cluster/manifest-access.ts';
import type { TransportRequest } from '../transport/transport.ts';
import { isObjectName, namespacedPath } from './effect-request.ts';
import type { ListMeans } from './list-pages.ts';
import { classifyApply } from './status-classifier.ts';

/** Why a write is not sent. */
export interface Doubt {
  readonly message: string;
  readonly retryAfterMs?: number;
}

interface ApplyMeans extends Pick<ListMeans, 'send'> {
  /** Asked before each request. */
  readonly beforeWrite: () => Doubt | undefined;
}

/** An apply as a request, or why it must not be sent. */
type ManifestRequest =
  | { readonly kind: 'request'; readonly request: TransportRequest }
  | { readonly kind: 'faulty'; readonly message: string };

function faultOf(manifest: FleetManifest, options: ApplyOptions): string | undefined {
  const { metadata } = manifest;
  if (manifest['apiVersion'] !== 'apps/v1' || manifest['kind'] !== 'DaemonSet') {
    return 'the manifest is no DaemonSet of apps/v1';
  }
  if (!isObjectName(metadata.namespace) || !isObjectName(metadata.name)) {
    return 'the manifest has no name and namespace of an object';
  }
  if (options.uid === '') return 'the UID is empty';
  const { resourceVersion } = options;
  const isFence = resourceVersion === undefined || isResourceVersion(resourceVersion);
  return isFence ? undefined : 'the resourceVersion is none';
}

function bodyOf(manifest: FleetManifest, options: ApplyOptions): object {
  const {
    managedFields: _owners,
    resourceVersion: _version,
    uid: _uid,
    ...metadata
  } = manifest.metadata;
  const { uid, resourceVersion } = options;
  return { ...manifest, metadata: { ...metadata, ...defined({ uid, resourceVersion }) } };
}

export function manifestRequest(manifest: FleetManifest, options: ApplyOptions): ManifestRequest {
  const fault = faultOf(manifest, options);
  if (fault !== undefined) return { kind: 'faulty', message: `not sent: ${fault}` };
  const { namespace, name } = manifest.metadata;
  const query = new URLSearchParams({ fieldManager: FIELD_MANAGER, fieldValidation: 'Strict' });
  if (options.isForced) query.set('force', 'true');
  if (options.isDryRun) query.set('dryRun', 'All');
  return {
    kind: 'request',
    request: {
      method: 'PATCH',
      path: `${namespacedPath('apps', namespace, 'daemonsets')}/${name}?${query.toString()}`,
      contentType: 'application/apply-patch+yaml',
      body: JSON.stringify(bodyOf(manifest, options)),
    },
  };
}

/** Applies. What `rollcall` wrote itself otherwise is no rival's: under the fence it is taken, once. */
async function applyManifest(
  manifest: FleetManifest,
  options: ApplyOptions,
  means: ApplyMeans,
): Promise<ManifestOutcome> {
  const first = await applyOnce(manifest, options, means);
  if (first.kind !== 'conflict' || options.isForced) return first;
  const isOwn = first.conflicts.every(({ manager }) => manager === FIELD_MANAGER);
  if (!isOwn || options.resourceVersion === undefined) return first;
  return applyOnce(manifest, { ...options, isForced: true }, means);
}

async function applyOnce(
  manifest: FleetManifest,
  options: ApplyOptions,
  { beforeWrite, send }: ApplyMeans,
): Promise<ManifestOutcome> {
  const prepared = manifestRequest(manifest, options);
  if (prepared.kind === 'faulty') return { kind: 'refused', status: 0, message: prepared.message };
  const doubt = beforeWrite();
  if (doubt !== undefined) return { kind: 'unavailable', ...doubt };
  const answer = await send(prepared.request);
  const { namespace, name } = manifest.metadata;
  return classifyApply(answer, { namespace, name, isDryRun: options.isDryRun });
}

/**
 * Requests that only steps of fleets send to clusters. A connector is given it where it is needed, and refuses without: so the bundles of
 * other functions do not hold it, and they cannot send any.
 */
export interface FleetRequests {
  readonly applyManifest: typeof applyManifest;
}

/** Given to the connector of a program that steps fleets. */
export const FLEET_REQUESTS: FleetRequests = { applyManifest };

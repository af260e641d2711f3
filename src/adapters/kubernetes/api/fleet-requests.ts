/**
 * What only steps of fleets send to clusters: manifests, and mirrors of fleets.
 *
 * Given to a connector where it is needed, and imported by nobody else: so the bundles of other functions do not hold it, and they can send
 * neither. A connector without it refuses both.
 */
import { applyManifest } from './manifest-apply.ts';
import { createMirrorAccess } from './mirror-access.ts';

/** The requests. */
export interface FleetRequests {
  readonly applyManifest: typeof applyManifest;
  readonly createMirrorAccess: typeof createMirrorAccess;
}

/** They. */
export const FLEET_REQUESTS: FleetRequests = { applyManifest, createMirrorAccess };

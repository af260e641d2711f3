/**
 * What only steps of fleets send to clusters: manifests.
 *
 * Given to a connector where it is needed, and imported by nobody else: so the bundles of other functions do not hold it, and they cannot
 * send any. A connector without it refuses.
 */
import { applyManifest } from './manifest-apply.ts';

/** The requests. */
export interface FleetRequests {
  readonly applyManifest: typeof applyManifest;
}

/** They. */
export const FLEET_REQUESTS: FleetRequests = { applyManifest };

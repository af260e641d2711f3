/**
 * Releases of a fleet as they are given to clusters: whole, for a stage of some nodes with a policy
 * that stops there, and on the way back with one that waits for no approval.
 */
import { jsonMember, type Json } from '@rollcall/base/json.ts';
import type { FleetDaemonSet } from '../../../core/fleet/fleet-daemon-set.ts';
import { fleetRenderer, policyInForce, type Rendering } from '../../../core/fleet/render-fleet.ts';
import type { FleetClusterRecord, FleetRelease } from '../../../core/fleet/rollout/fleet-record.ts';
import type { ChosenBy } from '../../../core/fleet/choose-clusters.ts';
import { POLICY_ANNOTATION } from '../../../core/policy/rollout-policy.ts';
import type { FleetReader } from '../../../ports/fleet-reader.ts';
import type { StepFleetsDependencies } from './dependencies.ts';

type Given = Pick<FleetClusterRecord, 'isPartial' | 'isUngated'>;

interface Sources {
  readonly reader: FleetReader;
  readonly newest?: FleetDaemonSet;
}

/** A release that can be rendered. */
export class ReleaseRendering {
  readonly release: FleetRelease;
  /** True if it takes fields that others own. */
  readonly isForced: boolean;
  readonly #whole: (cluster: ChosenBy) => Rendering;
  readonly #partial: (cluster: ChosenBy) => Rendering;
  readonly #ungated: (cluster: ChosenBy) => Rendering;

  /** `newest`: the state whose policy and strategy are in force; absent: it is this one. */
  constructor(release: FleetRelease, fleet: FleetDaemonSet, { reader, newest = fleet }: Sources) {
    const { conflicts, stages } = newest.strategy;
    const [{ nodes }] = stages;
    const inForce = policyInForce(newest, fleet);
    this.release = release;
    this.isForced = conflicts === 'overwrite';
    this.#whole = fleetRenderer(fleet, inForce);
    this.#ungated = fleetRenderer(fleet, (text) => reader.ungatePolicy(inForce(text)));
    this.#partial =
      nodes === undefined
        ? this.#whole
        : fleetRenderer(fleet, (text) => reader.limitPolicy(inForce(text), nodes));
  }

  /** What a cluster is given: on its first nodes alone, or without approval and windows, or whole. */
  renderFor(cluster: ChosenBy, { isPartial, isUngated }: Given): Rendering {
    if (isUngated === true) return this.#ungated(cluster);
    return isPartial ? this.#partial(cluster) : this.#whole(cluster);
  }

  /** True if an approval or a window may hold it there. */
  isGatedFor(cluster: ChosenBy): boolean {
    return policyTextIn(this.#whole(cluster)) !== policyTextIn(this.#ungated(cluster));
  }
}

function policyTextIn(rendering: Rendering): Json | undefined {
  if (rendering.kind === 'refused') return undefined;
  return jsonMember(rendering.manifest.metadata['annotations'], POLICY_ANNOTATION);
}

/**
 * Reads a release of before, under the policy and strategy of `newest`, which are in force; undefined: its document is gone, or is none
 * to this Rollcall.
 */
export async function readRelease(
  newest: FleetDaemonSet,
  release: FleetRelease,
  { fleets, reader }: Pick<StepFleetsDependencies, 'fleets' | 'reader'>,
): Promise<ReleaseRendering | undefined> {
  const document = await fleets.readDocument(newest, release.documentId);
  if (document === undefined) return undefined;
  const reading = reader.readDocument(document);
  if (reading.kind !== 'fleet') return undefined;
  return new ReleaseRendering(release, reading.fleet, { reader, newest });
}

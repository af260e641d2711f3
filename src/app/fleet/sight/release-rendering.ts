/**
 * Releases of a fleet as they are given to clusters: rendered for each, and for a stage of some nodes with a policy that stops there.
 *
 * A release of before is read from its stored document when somebody needs it, once. What cannot be read any more is told.
 */
import type { FleetDaemonSet } from '../../../core/fleet/fleet-daemon-set.ts';
import { fleetRenderer } from '../../../core/fleet/render-fleet.ts';
import type { Rendering } from '../../../core/fleet/render-fleet.ts';
import type { FleetRelease } from '../../../core/fleet/rollout/fleet-record.ts';
import type { ChosenBy } from '../../../core/fleet/choose-clusters.ts';
import type { FleetReader } from '../../../ports/fleet-reader.ts';
import type { StepFleetsDependencies } from './dependencies.ts';

/** A release that can be rendered. */
export class ReleaseRendering {
  readonly release: FleetRelease;
  /** True if it takes fields that others own. */
  readonly isForced: boolean;
  readonly #whole: (cluster: ChosenBy) => Rendering;
  readonly #partial: (cluster: ChosenBy) => Rendering;

  constructor(release: FleetRelease, fleet: FleetDaemonSet, reader: FleetReader) {
    this.release = release;
    this.isForced = fleet.strategy.conflicts === 'overwrite';
    this.#whole = fleetRenderer(fleet);
    const { nodes } = fleet.strategy.stages[0];
    this.#partial =
      nodes === undefined
        ? this.#whole
        : fleetRenderer(fleet, (text) => reader.limitPolicy(text, nodes));
  }

  /** What a cluster is given; `isPartial`: only the nodes that the first stage asks for. */
  renderFor(cluster: ChosenBy, isPartial: boolean): Rendering {
    return isPartial ? this.#partial(cluster) : this.#whole(cluster);
  }
}

/** Reads a release of before; undefined: its document is gone, or is none to this Rollcall. */
export async function readRelease(
  key: { readonly namespace: string; readonly name: string },
  release: FleetRelease,
  { fleets, reader }: Pick<StepFleetsDependencies, 'fleets' | 'reader'>,
): Promise<ReleaseRendering | undefined> {
  const document = await fleets.readDocument(key, release.documentId);
  if (document === undefined) return undefined;
  const reading = reader.readDocument(document);
  return reading.kind === 'fleet'
    ? new ReleaseRendering(release, reading.fleet, reader)
    : undefined;
}

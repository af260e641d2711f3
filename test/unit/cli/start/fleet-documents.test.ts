/** The FleetDaemonSets of a play are those of the example, and can be applied. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFleetReader } from '../../../../src/adapters/policy/fleet/fleet-reader.ts';
import {
  readFleetDocuments,
  FLEET_FAILURES,
  PROVEN_IMAGE,
  playedRelease,
} from '../../../../src/cli/start/fleet-plan.ts';
import type { FleetDocuments, FleetFailure } from '../../../../src/cli/start/fleet-plan.ts';
import { imagesOf } from '../../../../src/core/fleet/plan-cluster.ts';
import { packageFile } from '../../../../src/engine/package-files.ts';

function documentsOf(failure?: FleetFailure): Promise<FleetDocuments> {
  const options = { onHalt: 'rollback', reader: createFleetReader() } as const;
  return readFleetDocuments(
    packageFile('examples/fleet/fleet-agent.yaml'),
    playedRelease(failure),
    options,
  );
}

describe('the documents of a play', () => {
  it('prove one image everywhere at once, and roll the other out in a ring, three clusters, the rest', async () => {
    const { proven, played } = await documentsOf();
    const stagesOf = ({ fleet }: typeof proven): unknown =>
      fleet.strategy.stages.map(({ name }) => name);
    assert.deepEqual(stagesOf(proven), ['rest']);
    assert.deepEqual(stagesOf(played), ['canary', 'early', 'rest']);
    assert.deepEqual(played.fleet.strategy.stages[0].nodes, { kind: 'count', count: 3 });
    assert.deepEqual(played.fleet.strategy.stages[1]?.share, { kind: 'count', count: 3 });
    assert.deepEqual([...imagesOf(proven.fleet.manifest).values()], [PROVEN_IMAGE]);
    assert.notDeepEqual(imagesOf(played.fleet.manifest), imagesOf(proven.fleet.manifest));
    assert.equal(played.fleet.strategy.onHalt, 'rollback');
  });

  it('differ by failure in the image alone, and in how long the canary is watched', async () => {
    const images = new Set<string>();
    for (const failure of FLEET_FAILURES) {
      const { played } = await documentsOf(failure);
      for (const image of imagesOf(played.fleet.manifest).values()) images.add(image);
      const text = JSON.stringify(played.document);
      const soak = `soak: ${String(playedRelease(failure).canarySoakSeconds)}s`;
      assert.ok(text.includes(soak), `${failure}: ${soak}`);
    }
    assert.equal(images.size, FLEET_FAILURES.length);
  });
});

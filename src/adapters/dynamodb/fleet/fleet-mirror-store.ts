/**
 * Where fleets are mirrored: one small item of the registry's table, replaced by compare-and-set,
 * in a partition of its own, so that a role may be given it alone (infra/roles.yml). One that is
 * damaged is no mirror that nobody named: reading it rejects.
 */
import * as v from 'valibot';
import { clusterId } from '../../../core/model/identifiers.ts';
import { NO_MIRROR } from '../../../core/fleet/told/fleet-mirror.ts';
import type { FleetMirrorStore } from '../../../ports/stores/fleet-mirror-store.ts';
import { storedAs } from '../item-codec.ts';
import { FLEET_MIRROR_KEY } from '../item-keys.ts';
import { Table, ifVersion } from '../table.ts';
import type { DynamoStoreOptions } from '../table.ts';

const momentSchema = v.pipe(v.number(), v.finite());

const mirrorOf = storedAs(
  v.object({
    version: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
    cluster: v.exactOptional(v.pipe(v.string(), v.minLength(1), v.transform(clusterId))),
    setBy: v.string(),
    setAtMs: momentSchema,
    trouble: v.exactOptional(
      v.object({
        code: v.picklist(['not-registered', 'frozen', 'not-connected', 'unavailable', 'refused']),
        message: v.string(),
        sinceMs: momentSchema,
        fleet: v.exactOptional(v.string()),
      }),
    ),
  }),
  'does not say where fleets are mirrored',
);

/** The mirror of a registry's table. */
export function createDynamoFleetMirrorStore(options: DynamoStoreOptions): FleetMirrorStore {
  const table = new Table(options);
  return {
    readMirror: async () => (await table.getAs(FLEET_MIRROR_KEY, mirrorOf)) ?? NO_MIRROR,
    writeMirror: ({ version, ...body }) =>
      table.putIf(FLEET_MIRROR_KEY, { ...body, version: version + 1 }, ifVersion(version)),
  };
}

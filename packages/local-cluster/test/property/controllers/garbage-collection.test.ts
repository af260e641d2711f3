/**
 * The garbage collector over random graphs of owners and random deletions: what is left is exactly what may be left.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiRequest } from '../../../src/api/request/api-request.ts';
import { startGarbageCollector } from '../../../src/controllers/garbage-collector.ts';
import type { ApiObject } from '../../../src/objects/api-object.ts';
import { configMapObject } from '../../support/objects.ts';
import { startOne } from '../../support/start-one.ts';
import { createLocalWorld } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';

const PROPAGATIONS = ['Background', 'Foreground', 'Orphan'] as const;
const OBJECTS_MAX = 12;

interface Plan {
  /** Owners of each object, as indexes of earlier ones; an index beyond the end is an owner that never was. */
  readonly owners: readonly (readonly { readonly index: number; readonly isBlocking: boolean }[])[];
  readonly deletions: readonly { readonly index: number; readonly how: number }[];
  /** Let the collector work after each deletion, or only at the end. */
  readonly isPatient: boolean;
  readonly failurePercent: number;
  readonly seed: number;
}

const plans: fc.Arbitrary<Plan> = fc.record({
  owners: fc.array(
    fc.array(fc.record({ index: fc.nat({ max: OBJECTS_MAX }), isBlocking: fc.boolean() }), {
      maxLength: 3,
    }),
    { minLength: 1, maxLength: OBJECTS_MAX },
  ),
  deletions: fc.array(fc.record({ index: fc.nat({ max: OBJECTS_MAX }), how: fc.nat({ max: 2 }) }), {
    maxLength: 5,
  }),
  isPatient: fc.boolean(),
  failurePercent: fc.constantFrom(0, 20),
  seed: fc.nat(),
});

test('after quiescence nothing has only absent owners, and nothing with a living owner was deleted', async () => {
  const seen = { collected: 0, kept: 0 };
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const world = await createLocalWorld();
      const collector = startOne(world, startGarbageCollector, {
        clients: world.clientsWithout(randomFailure(plan)),
      });
      await world.settle();
      const asked = new Set<string>();
      const made = await makeObjects(world, plan);
      for (const { index, how } of plan.deletions) {
        const object = made[index % made.length];
        assert(object !== undefined);
        asked.add(object.metadata.uid);
        await world.admin.delete(
          { resource: 'configmaps', namespace: 'default', name: object.metadata.name },
          { propagation: PROPAGATIONS[how] ?? 'Background', uid: object.metadata.uid },
        );
        if (plan.isPatient) await world.settle();
      }
      await world.clock.advance(600_000);
      checkFinalState({ world, made, asked, seen });
      await collector.stop();
      assert.deepEqual(world.log.at('error'), []);
    }),
    { numRuns: 120 },
  );
  assert(seen.collected > 0 && seen.kept > 0, JSON.stringify(seen));
});

/** Some of the collector's reads and writes fail. */
function randomFailure({ failurePercent, seed }: Plan): (request: ApiRequest) => boolean {
  const random = seededRandom(seed);
  return ({ target }) => target.includes('/configmaps/') && random.next() * 100 < failurePercent;
}

async function makeObjects(world: LocalWorld, plan: Plan): Promise<readonly ApiObject[]> {
  const made: ApiObject[] = [];
  for (const [index, owners] of plan.owners.entries()) {
    const ownerReferences = owners.flatMap((owner): readonly JsonObject[] => {
      const target = made[owner.index];
      // Never an owner twice: the API server would warn, and patches by UID mean both.
      if (target === undefined && owner.index <= OBJECTS_MAX - 2) return [];
      const uid = target?.metadata.uid ?? 'never-there';
      const name = target?.metadata.name ?? 'never-there';
      return [
        { apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: owner.isBlocking },
      ];
    });
    const unique = [...new Map(ownerReferences.map((owner) => [owner['uid'], owner])).values()];
    made.push(
      await world.create(
        'configmaps',
        configMapObject(`object-${index}`, { ownerReferences: unique }),
      ),
    );
  }
  return made;
}

function checkFinalState(of: {
  readonly world: LocalWorld;
  readonly made: readonly ApiObject[];
  readonly asked: ReadonlySet<string>;
  readonly seen: { collected: number; kept: number };
}): void {
  const { world, made, asked, seen } = of;
  const alive = new Map(
    world.store
      .list('configmaps', 'default')
      .map((object) => [object.metadata.uid, object] as const),
  );
  for (const object of alive.values()) {
    const { name, ownerReferences = [], deletionTimestamp } = object.metadata;
    assert.equal(deletionTimestamp, undefined, `${name} is still being deleted`);
    const living = ownerReferences.filter(({ uid }) => alive.has(uid));
    assert(ownerReferences.length === 0 || living.length > 0, `${name} has only absent owners`);
    seen.kept += 1;
  }
  for (const object of made) {
    const { uid, name, ownerReferences = [] } = object.metadata;
    if (alive.has(uid) || asked.has(uid)) continue;
    seen.collected += 1;
    assert(ownerReferences.length > 0, `${name} never had an owner and is gone`);
    const living = ownerReferences.filter((owner) => alive.has(owner.uid));
    assert.deepEqual(living, [], `${name} is gone although an owner lives`);
  }
}

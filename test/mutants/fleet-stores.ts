/**
 * Bugs in what is stored of FleetDaemonSets and their rollouts: each would lose an order, or what clusters were given (issue 18).
 */
import type { PlantedBug } from './planted-bug.ts';

const ROLLOUTS = 'src/adapters/dynamodb/fleet/fleet-rollout-store.ts';
const ROLLOUTS_TEST = 'test/integration/dynamodb/fleet/fleet-rollout-store.test.ts';

/** All of them. */
export const FLEET_STORE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'fleet-record-of-another': {
    bug: 'a step of a FleetDaemonSet that is gone writes over the record of the next one of its name (18.1)',
    file: ROLLOUTS,
    before: "expression: 'version = :version AND #uid = :uid',",
    after: "expression: 'version = :version OR #uid = :uid',",
    killedBy: { file: ROLLOUTS_TEST, title: 'writes a record only over the one that was read' },
  },
  'fleet-list-removed-under-a-step': {
    bug: 'a step removes the list that another one is about to name (18.1)',
    file: ROLLOUTS,
    before: "!kept.has(id) && Number(id.split('-', 1)[0]) < fleet.version",
    after: "!kept.has(id) && Number(id.split('-', 1)[0]) <= fleet.version",
    killedBy: { file: ROLLOUTS_TEST, title: 'none that one is about to' },
  },
  'fleet-page-cut-short': {
    bug: 'clusters of a page that is damaged are in no stage, and nobody is told (18.4)',
    file: ROLLOUTS,
    before: 'members.success && members.output.length === expected',
    after: 'members.success',
    killedBy: { file: ROLLOUTS_TEST, title: 'says so where a page is missing' },
  },
  'fleet-unknown-order-dropped': {
    bug: 'an order that a newer release wrote is lost with the next step (18.1)',
    file: 'src/adapters/dynamodb/fleet/fleet-record-schema.ts',
    before: 'const OrdersSchema = v.strictObject({',
    after: 'const OrdersSchema = v.object({',
    killedBy: { file: ROLLOUTS_TEST, title: 'a field that it does not know' },
  },
  'fleet-label-change-unseen': {
    bug: 'a label that moves a cluster between stages is seen the next day only (18.2)',
    file: 'src/adapters/dynamodb/registry/registry-store.ts',
    before: "if (written === 'written') await table.increment",
    after: "if (written === 'lost') await table.increment",
    killedBy: {
      file: 'test/integration/dynamodb/stores.test.ts',
      title: 'raises its revision with what was written',
    },
  },
  'fleet-proven-forgotten': {
    bug: 'the release that a rollback leads to is removed by the tenth apply after it (18.1)',
    file: 'src/core/fleet/rollout/fleet-history.ts',
    before: ' || kept.has(documentId)',
    after: '',
    killedBy: {
      file: 'test/unit/core/fleet/rollout/fleet-history.test.ts',
      title: 'what the record of the rollout names as well',
    },
  },
  'fleet-name-is-content': {
    bug: 'another name of an override lets content that was halted roll again (18.1)',
    file: 'src/core/fleet/content-hash.ts',
    before: 'const content = { manifest, overrides: rendered as unknown as Json };',
    after: 'const content = { manifest, overrides: overrides as unknown as Json };',
    killedBy: {
      file: 'test/unit/core/fleet/content-hash.test.ts',
      title: 'is the same however clusters are staged',
    },
  },
};

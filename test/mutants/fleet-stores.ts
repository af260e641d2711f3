/**
 * Bugs in what is stored of FleetDaemonSets and their rollouts: each would lose an order, or what clusters were given (issue 18).
 */
import type { PlantedBug } from './planted-bug.ts';

const ROLLOUTS = 'src/adapters/dynamodb/fleet-rollout-store.ts';
const ROLLOUTS_TEST = 'test/integration/dynamodb/fleet/fleet-rollout-store.test.ts';
const ORDERS = 'src/core/fleet/rollout/order-clusters.ts';
const ORDERS_TEST = 'test/unit/core/fleet/rollout/order-clusters.test.ts';

/** All of them. */
export const FLEET_STORE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'fleet-record-of-another': {
    bug: 'a step of a FleetDaemonSet that is gone writes over the record of the next one of its name (18.1)',
    file: 'src/adapters/dynamodb/table.ts',
    before: "expression: 'version = :version AND #uid = :uid',",
    after: "expression: 'version = :version OR #uid = :uid',",
    killedBy: {
      file: ROLLOUTS_TEST,
      title: 'the DynamoDB store of rollouts of fleets on the local tables',
    },
  },
  'fleet-list-removed-under-a-step': {
    bug: 'a step removes the list that another one is about to name (18.1)',
    file: ROLLOUTS,
    before: "!kept.has(id) && Number(id.split('-', 1)[0]) < fleet.version",
    after: "!kept.has(id) && Number(id.split('-', 1)[0]) <= fleet.version",
    killedBy: {
      file: ROLLOUTS_TEST,
      title: 'the DynamoDB store of rollouts of fleets on the local tables',
    },
  },
  'fleet-page-cut-short': {
    bug: 'clusters of a page that is damaged are in no stage, and nobody is told (18.4)',
    file: ROLLOUTS,
    before: 'members?.length === expected',
    after: 'members !== undefined && members.length > 0',
    killedBy: {
      file: ROLLOUTS_TEST,
      title: 'the DynamoDB store of rollouts of fleets on the local tables',
    },
  },
  'fleet-unknown-order-dropped': {
    bug: 'an order that a newer release wrote is lost with the next step (18.1)',
    file: 'src/adapters/dynamodb/fleet-records.ts',
    before: 'const OrdersSchema = v.strictObject({',
    after: 'const OrdersSchema = v.object({',
    killedBy: { file: ROLLOUTS_TEST, title: 'a field that it does not know' },
  },
  'fleet-label-change-unseen': {
    bug: 'a label that moves a cluster between stages is seen the next day only (18.2)',
    file: 'src/adapters/dynamodb/registry-store.ts',
    before: "if (written === 'written') await raiseRevision",
    after: "if (written === 'lost') await raiseRevision",
    killedBy: {
      file: 'test/integration/dynamodb/stores.test.ts',
      title: 'the DynamoDB stores on the local tables',
    },
  },
  'fleet-proven-forgotten': {
    bug: 'the release that a rollback leads to is removed by the tenth apply after it (18.1)',
    file: 'src/app/fleet/apply-fleet.ts',
    before: ' || kept.has(documentId)',
    after: '',
    killedBy: {
      file: 'test/unit/app/fleet/kept-generations.test.ts',
      title: 'what the record of the rollout names as well',
    },
  },
  'fleet-name-is-content': {
    bug: 'another name of an override lets content that was halted roll again (18.1)',
    file: 'src/core/fleet/render-fleet.ts',
    before: 'const content = { manifest, overrides: rendered as unknown as Json };',
    after: 'const content = { manifest, overrides: overrides as unknown as Json };',
    killedBy: {
      file: 'test/unit/core/fleet/content-hash.test.ts',
      title: 'is the same however clusters are staged',
    },
  },
  'fleet-resumed-where-it-was': {
    bug: 'after an undo was taken back, clusters of passed stages keep the old release and count as passed (18.1)',
    file: ORDERS,
    before: 'isBack ? fromTheFirstStage(opened, note) : opened',
    after: 'opened',
    killedBy: { file: ORDERS_TEST, title: 'begins with the first stage' },
  },
  'fleet-zero-hidden': {
    bug: 'a cluster of which no node runs the release is not shown, or below those that get on (users-want 4)',
    file: 'src/app/fleet/rollout/list-clusters.ts',
    before: 'if (isAtZero({ phase, nodes })) return 1;',
    after: '',
    killedBy: {
      file: 'test/unit/cli/fleet/rollout-commands.test.ts',
      title: 'the clusters that are not well, the worst first',
    },
  },
};

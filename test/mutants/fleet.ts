/**
 * Bugs in what a FleetDaemonSet means for a cluster: each would show a plan that is not what was asked for (issue 18).
 */
import type { PlantedBug } from './planted-bug.ts';

const PLAN = 'src/core/fleet/plan-fleet.ts';
const PLAN_TEST = 'test/unit/core/fleet/plan-fleet.test.ts';
const STAGES = 'src/core/fleet/assign-stages.ts';
const STAGES_TEST = 'test/property/core/fleet/assign-stages.test.ts';
const RENDER = 'src/core/fleet/render-fleet.ts';
const RENDER_TEST = 'test/unit/core/fleet/render-fleet.test.ts';
const COMPARE_TEST = 'test/unit/core/fleet/compare-manifest.test.ts';
const STORE_TEST = 'test/integration/dynamodb/fleet/fleet-store.test.ts';

/** All of them. */
export const FLEET_BUGS: Readonly<Record<string, PlantedBug>> = {
  'fleet-offline-counts': {
    bug: 'an offline cluster is in a stage, and blocks it (18.6)',
    file: PLAN,
    before: 'else if (silentForMs > OFFLINE_AFTER_MS) offline.push',
    after: 'else if (silentForMs < 0) offline.push',
    killedBy: { file: PLAN_TEST, title: 'neither block nor count' },
  },
  'fleet-observed-is-rolled': {
    bug: 'a cluster in mode observe is in a stage (18.3)',
    file: 'src/core/fleet/plan-cluster.ts',
    before: "if (mode === 'observe') return 'observe';",
    after: '',
    killedBy: { file: PLAN_TEST, title: 'touches none of them' },
  },
  'fleet-frozen-is-rolled': {
    bug: 'a frozen cluster is in a stage (18.5)',
    file: 'src/core/fleet/plan-cluster.ts',
    before: "if (isFrozen) return 'frozen';",
    after: '',
    killedBy: { file: PLAN_TEST, title: 'touches none of them' },
  },
  'fleet-failures-round-up': {
    bug: 'a budget of 34 % lets a cluster of two fail (18.1)',
    file: PLAN,
    before: 'nodesRoundedDown(maxFailures',
    after: 'nodesRoundedUp(maxFailures',
    killedBy: { file: PLAN_TEST, title: 'rounds shares and concurrency up and failures down' },
  },
  'fleet-new-daemon-on-few-nodes': {
    bug: 'a DaemonSet that is made in a cluster is told to start on the nodes of the ring alone (18.1)',
    file: PLAN,
    before: "if (share === undefined || change === 'create') return changedNodes;",
    after: 'if (share === undefined) return changedNodes;',
    killedBy: { file: PLAN_TEST, title: 'all of one that has none' },
  },
  'fleet-stage-shares-a-cluster': {
    bug: 'a cluster is in two stages (18.2)',
    file: STAGES,
    before: 'for (const cluster of taken) left.delete(cluster);',
    after: '',
    killedBy: { file: STAGES_TEST, title: 'puts every cluster in one stage' },
  },
  'fleet-order-as-read': {
    bug: 'the canary is whichever cluster is registered first, of every fleet (18.1)',
    file: STAGES,
    before: 'compareText(left.hash, right.hash) ||',
    after: '',
    killedBy: { file: STAGES_TEST, title: 'an order of its own' },
  },
  'fleet-override-changes-the-selector': {
    bug: 'an override changes the selector, which every API server refuses (18.1)',
    file: RENDER,
    before: 'if (!hasSameSelector(judged.manifest, fleet.manifest)) {',
    after: 'if (fleet.overrides.length < 0) {',
    killedBy: { file: RENDER_TEST, title: 'another selector' },
  },
  'fleet-template-of-another-cluster': {
    bug: 'a cluster is given what was rendered for one with other overrides (18.2)',
    file: RENDER,
    before: 'const known = rendered.get(key);',
    after: 'const [known] = rendered.values();',
    killedBy: {
      file: 'test/unit/cli/fleet/fleet-commands.test.ts',
      title: 'leaves with 3 when some cluster',
    },
  },
  'fleet-annotation-restarts': {
    bug: 'a plan says that pods are replaced where an annotation of the DaemonSet changes (18.1)',
    file: 'src/core/fleet/plan-cluster.ts',
    before: 'field.startsWith(TEMPLATE_FIELD)',
    after: "field !== ''",
    killedBy: { file: PLAN_TEST, title: 'outside of the pod template' },
  },
  'fleet-restart-unseen': {
    bug: 'what only the cluster has is no difference: kubectl rollout restart is not seen (18.3)',
    file: 'src/core/fleet/compare-manifest.ts',
    before: 'if (!isServers(name, from, { ...live, ...wanted }))',
    after: 'if (name.length < 0)',
    killedBy: { file: COMPARE_TEST, title: 'a restart by kubectl' },
  },
  'fleet-defaults-differ': {
    bug: 'what an API server fills in is a difference for ever (18.3)',
    file: 'src/core/fleet/compare-manifest.ts',
    before: 'return isFilledIn(name, value, beside);',
    after: 'return false;',
    killedBy: { file: COMPARE_TEST, title: 'finds nothing in what an API server made' },
  },
  'fleet-diff-shows-tokens': {
    bug: 'values of environment variables are printed (S11)',
    file: 'src/cli/fleet/plan-commands.ts',
    before: '(env|args|command|annotations)',
    after: '(args|command|annotations)',
    killedBy: {
      file: 'test/unit/cli/fleet/fleet-commands.test.ts',
      title: 'values only where they are no secrets',
    },
  },
  'fleet-octal-taken': {
    bug: 'a mode of 0644 is 644, and opens a file to others (18.1)',
    file: 'src/adapters/policy/fleet/fleet-reader.ts',
    before: "leadingZeros: 'refused'",
    after: "leadingZeros: 'taken'",
    killedBy: {
      file: 'test/unit/adapters/policy/fleet/fleet-reader.test.ts',
      title: 'reads as octal',
    },
  },
  'fleet-head-of-another': {
    bug: 'an apply replaces what was made anew under its name (18.1)',
    file: 'src/adapters/dynamodb/table.ts',
    before: "expression: 'version = :version AND #uid = :uid',",
    after: "expression: 'version = :version OR #uid = :uid',",
    killedBy: { file: STORE_TEST, title: 'replaces nothing that was made anew' },
  },
  'fleet-former-document-stays': {
    bug: 'each apply leaves a document behind (18.1)',
    file: 'src/adapters/dynamodb/fleet-store.ts',
    before: '[documentId] : unnamed(former, head.history);',
    after: '[documentId] : [];',
    killedBy: { file: STORE_TEST, title: 'keeps one document of each' },
  },
};

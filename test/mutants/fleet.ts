/**
 * Bugs in what a FleetDaemonSet means for a cluster: each would show a plan that is not what was asked for (issue 18).
 */
import type { PlantedBug } from './planted-bug.ts';

const PLAN_TEST = 'test/unit/core/fleet/plan-fleet.test.ts';
const RENDER = 'src/core/fleet/render-fleet.ts';
const COMPARE_TEST = 'test/unit/core/fleet/compare-manifest.test.ts';
const STORE_TEST = 'test/integration/dynamodb/fleet/fleet-store.test.ts';

/** All of them. */
export const FLEET_BUGS: Readonly<Record<string, PlantedBug>> = {
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

/**
 * Canaries for the import directions: a forbidden import for every rule, and a run that sees no module.
 *
 * Each planted module is named after the rule that it breaks. The last canary replaces the configuration by one that
 * excludes everything, which is what happens with a compiler that dependency-cruiser cannot use.
 */
import type { Canary } from './canary.ts';

const use = (path: string): string => `import '${path}';\nexport {};\n`;

const files: Readonly<Record<string, string>> = {
  'src/ports/port.ts': use('../core/clean.ts'),
  'src/adapters/one/real.ts': use('../../ports/port.ts'),
  'src/adapters/two/other.ts': use('../../ports/port.ts'),
  'src/app/work.ts': use('../ports/port.ts'),
  'src/engine/engine.ts': use('../app/work.ts'),
  'src/cli/main.ts': use('../engine/engine.ts'),
  'packages/base/src/base.ts': 'export {};\n',
  'packages/local-aws/src/queue.ts': use('../../base/src/base.ts'),
  'test/support/fake.ts': use('../../src/core/clean.ts'),
  'scripts/tool.ts': use('../src/core/clean.ts'),
  'src/core/core-is-pure.ts': use('../ports/port.ts'),
  'src/core/core-is-pure-node.ts': use('node:path'),
  'src/core/admission/copy.ts': 'export {};\n',
  'src/core/stages/admission-has-one-seam.ts': use('../admission/copy.ts'),
  'src/ports/ports-are-interfaces.ts': use('node:stream'),
  'src/adapters/one/adapters-know-no-application.ts': use('../../app/work.ts'),
  'src/adapters/one/adapters-know-no-other.ts': use('../two/other.ts'),
  'src/app/app-sees-ports-only.ts': use('../adapters/one/real.ts'),
  'src/watcher/watcher-sees-ports-only.ts': use('../adapters/one/real.ts'),
  'src/watcher/main.ts': use('../app/work.ts'),
  'functions/x/handlers-compose.ts': use('../../src/engine/engine.ts'),
  'src/engine/local-engine.ts': use('../cli/main.ts'),
  'packages/base/src/base-is-pure.ts': use('node:path'),
  'packages/base/src/base-stands-alone.ts': use('../../../src/ports/port.ts'),
  'packages/local-cluster/src/local-cluster-stands-alone.ts': use('../../../src/ports/port.ts'),
  'packages/local-aws/src/local-aws-stands-alone.ts': use('../../../src/ports/port.ts'),
  'functions/x/stand-ins-are-not.ts': use('../../packages/local-aws/src/queue.ts'),
  'src/web/dashboard.ts': use('../app/work.ts'),
  'src/app/tests-stay-in-test.ts': use('../../test/support/fake.ts'),
  'src/app/scripts-are-for.ts': use('../../scripts/tool.ts'),
  'src/app/aws-stays-outside.ts': use('@aws-sdk/client-sqs'),
  'src/adapters/kubeconfig/load.ts': use('@kubernetes/client-node'),
  'src/watcher/client-node-opens-kubeconfigs.ts': use('@kubernetes/client-node'),
  'functions/x/kubeconfigs-are-for-people.ts': use('../../src/adapters/kubeconfig/load.ts'),
  'src/watcher/renew-main.ts': use('../adapters/kubeconfig/load.ts'),
  'src/app/files-stay-outside.ts': use('node:fs/promises'),
  'functions/x/processes-stay-outside.ts': use('node:child_process'),
  'src/app/cycle-one.ts': use('./cycle-two.ts'),
  'src/app/cycle-two.ts': use('./cycle-one.ts'),
  'src/app/orphan.ts': 'export {};\n',
  'src/app/unresolvable.ts': use('./not-there.ts'),
  'src/cli/undeclared.ts': use('semver'),
  'src/cli/development-package.ts': use('prettier'),
};

/** Violations for the check boundaries. */
export const boundariesCanaries: readonly Canary[] = [
  {
    check: 'boundaries',
    files,
    expected: [
      /^core-is-pure: src\/core\/core-is-pure\.ts/m,
      /^core-is-pure: src\/core\/core-is-pure-node\.ts/m,
      /^admission-has-one-seam: src\/core\/stages\/admission-has-one-seam\.ts/m,
      /^ports-are-interfaces: src\/ports\/ports-are-interfaces\.ts/m,
      /^adapters-know-no-application: .*adapters-know-no-application\.ts/m,
      /^adapters-know-no-application: .*adapters-know-no-other\.ts/m,
      /^app-sees-ports-only: src\/app\/app-sees-ports-only\.ts/m,
      /^watcher-sees-ports-only: src\/watcher\/watcher-sees-ports-only\.ts/m,
      /^watcher-main-composes-adapters: src\/watcher\/main\.ts/m,
      /^handlers-compose-app-and-adapters: functions\/x\/handlers-compose\.ts/m,
      /^local-engine-knows-no-user-interface: src\/engine\/local-engine\.ts/m,
      /^base-is-pure: packages\/base\/src\/base-is-pure\.ts/m,
      /^base-stands-alone: packages\/base\/src\/base-stands-alone\.ts/m,
      /^local-cluster-stands-alone: packages\/local-cluster\/src\/local-cluster-stands-alone\.ts/m,
      /^local-aws-stands-alone: packages\/local-aws\/src\/local-aws-stands-alone\.ts/m,
      /^stand-ins-are-not-deployed: functions\/x\/stand-ins-are-not\.ts/m,
      /^dashboard-runs-in-a-browser: src\/web\/dashboard\.ts/m,
      /^tests-stay-in-test: src\/app\/tests-stay-in-test\.ts/m,
      /^scripts-are-for-the-repository: src\/app\/scripts-are-for\.ts/m,
      /^aws-stays-outside: src\/app\/aws-stays-outside\.ts/m,
      /^client-node-opens-kubeconfigs: src\/watcher\/client-node-opens-kubeconfigs\.ts/m,
      /^kubeconfigs-are-for-people: functions\/x\/kubeconfigs-are-for-people\.ts/m,
      /^kubeconfigs-are-for-people: src\/watcher\/renew-main\.ts/m,
      /^files-stay-outside: src\/app\/files-stay-outside\.ts/m,
      /^processes-stay-outside: functions\/x\/processes-stay-outside\.ts/m,
      /^no-cycles: src\/app\/cycle-one\.ts/m,
      /^no-orphans: src\/app\/orphan\.ts/m,
      /^no-unresolvable: src\/app\/unresolvable\.ts/m,
      /^no-undeclared-package: src\/cli\/undeclared\.ts/m,
      /^no-development-package-in-what-ships: src\/cli\/development-package\.ts/m,
    ],
  },
  {
    check: 'boundaries',
    files: {
      '.dependency-cruiser.mjs': "export default { options: { exclude: { path: '.' } } };\n",
    },
    expected: [/^not cruised: src\/core\/clean\.ts/m, /^no module was cruised/m],
    isCleanSpared: false,
  },
];

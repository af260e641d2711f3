/**
 * What `rollcall cluster remove` does and prints, on a real kube-apiserver with the shipped manifests: every printed
 * command is one that kubectl takes, and nothing cluster-wide is left after them.
 *
 * No controller runs, so a deleted namespace stays in deletion. The stacks are in memory.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { openOperatorCluster } from '../../../src/cli/reach/operator-access.ts';
import type { OperatorCluster } from '../../../src/cli/reach/operator-access.ts';
import { CommandWorld } from '../../support/command-world.ts';
import { TOOLS, skipWithoutTools } from '../../support/require-tool.ts';
import { registrationOf } from '../../support/store-suite.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { repositoryPath } from '../scenarios/repository.ts';

const ID = 'removed';
const CLUSTER_WIDE =
  'get clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding -o name';

describe('removing on a real API server', { skip: skipWithoutTools([TOOLS.go]) }, () => {
  let controlPlane: ControlPlane;
  let kubectl: Kubectl;
  let operator: OperatorCluster;
  /** What is cluster-wide before anything of Rollcall is. */
  let untouched = '';
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-remove-'));
  const world = new CommandWorld();

  before(async () => {
    controlPlane = await startControlPlane({ loops: 'off', auditLog: false });
    const { kubeconfigPath, kubectlPath: program } = controlPlane;
    const cacheDirectory = path.join(directory, 'cache');
    kubectl = bindKubectl({ program, kubeconfigPath, cacheDirectory });
    untouched = await kubectl.succeed(CLUSTER_WIDE);
    for (const name of ['watcher', 'renewer', 'functions', 'admission']) {
      await kubectl.succeed(['apply', '-k', repositoryPath(`infra/${name}`)]);
    }
    operator = await openOperatorCluster({ kubeconfig: kubeconfigPath }, process.env);
  });

  after(async () => {
    operator.close();
    await controlPlane.stop();
    rmSync(directory, { recursive: true });
  });

  /** As a person would: pasted into a shell, with kubectl on the path. */
  const paste = (command: string): Promise<unknown> =>
    promisify(execFile)('sh', ['-c', command], {
      env: {
        PATH: `${path.dirname(controlPlane.kubectlPath)}${path.delimiter}${process.env['PATH'] ?? ''}`,
        HOME: directory,
        KUBECONFIG: controlPlane.kubeconfigPath,
      },
    });

  it('is entered, handed back and forgotten as a person; the printed commands leave nothing', async () => {
    const { registry } = world.stores();
    const authentication = { kind: 'bearer', token: 'unused' } as const;
    const { clusterUid, server } = operator;
    const registration = { ...registrationOf(ID), clusterUid, server, authentication };
    await registry.writeCluster(registration, 0);
    world.cluster = { ...operator, close: () => undefined };
    (await world.run(['cluster', 'set', ID, '--mode', 'takeover'])).expectExit(0);
    const sentinel = '-n rollcall-system get daemonset -o name';
    assert.match(await kubectl.succeed(sentinel), /rollcall-takeover-probe/);
    const removed = await world.run(['cluster', 'remove', ID, '--release', '--json']);
    const { leftInCluster } = removed.expectExit(0).document() as {
      readonly leftInCluster: readonly string[];
    };
    assert.equal(await kubectl.succeed(sentinel), '');
    assert.match(await kubectl.succeed(CLUSTER_WIDE), /rollcall-functions/);
    for (const command of leftInCluster) {
      // Nobody finishes the deletion of a namespace here.
      const waits = command.includes(' namespace ') ? ' --wait=false' : '';
      await paste(`${command}${waits}`);
    }
    assert.equal(await kubectl.succeed(CLUSTER_WIDE), untouched);
    const namespace = await kubectl.succeed(
      'get namespace rollcall-system -o jsonpath={.status.phase}',
    );
    assert.equal(namespace, 'Terminating');
  });
});

/**
 * From a chart to a first status: it is installed on a real control plane in observe, its watcher runs with what the chart
 * gives it (ConfigMap, Secret, service account), and `rollcall status` shows the cluster.
 *
 * The fake kubelets run no container, so this test does: it starts the bundled watcher as the Deployment says.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findFreePorts } from '../../../scripts/lib/ports.ts';
import { bundleWatcher } from '../../../scripts/build/watcher-bundle.ts';
import { startReaper } from '../../../scripts/lib/reaper.ts';
import { clusterId } from '../../../src/core/model/identifiers.ts';
import { startEngine } from '../../../src/engine/engine.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { runOnEngine } from '../../support/engine-commands.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { createApiClient } from '../control-plane/api.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { createNodes, fakeNode } from '../control-plane/nodes.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { bindKubectl } from '../kubectl/kubectl.ts';
import type { Kubectl } from '../kubectl/kubectl.ts';
import { createActivityLog } from '../scenarios/activity-log.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { CHART, LEAST_VALUES, openHelm } from './helm.ts';
import type { Helm } from './helm.ts';

const ID = clusterId(LEAST_VALUES.cluster);
const ALL_WELL = '1 of 1 clusters, 1 of 1 DaemonSets, 1 of 1 pods are well\n';
const SHOWN_MS_MAX = 120_000;

interface Deployed {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly serviceAccountName: string; readonly containers: [Container] };
    };
  };
}
interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom: readonly {
    readonly configMapRef?: { readonly name: string };
    readonly secretRef?: { readonly name: string };
  }[];
}

const skip = skipWithoutTools([TOOLS.go]);

describe('a cluster into which the chart was installed', { skip, timeout: 900_000 }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-observed-'));
  const bundle = path.join(directory, 'watcher.mjs');
  const reaper = startReaper();
  let controlPlane: ControlPlane;
  let engine: Engine;
  let helm: Helm;
  let kubectl: Kubectl;

  /** Installs, or upgrades to, the queue at this address. */
  const release = async (eventsQueueUrl: string): Promise<void> => {
    const [port] = await findFreePorts(1);
    await helm.succeed(['upgrade', '--install', 'rollcall', CHART, '--namespace', 'kube-system'], {
      ...LEAST_VALUES,
      ...{ credentials: 'static', apiServer: controlPlane.server },
      watcher: { eventsQueueUrl, port },
    });
  };

  before(async () => {
    await bundleWatcher(repositoryPath(''), bundle);
    controlPlane = await startControlPlane({
      ...{ limits: 'lifted', auditLog: false, daemonSetController: 'on' },
    });
    helm = await openHelm(controlPlane.kubeconfigPath);
    kubectl = bindKubectl({
      program: controlPlane.kubectlPath,
      kubeconfigPath: controlPlane.kubeconfigPath,
      cacheDirectory: path.join(directory, 'cache'),
    });
    const admin = createApiClient(controlPlane.connectionOf('admin'));
    await createNodes(admin, [fakeNode({ name: 'worker-1', registersReady: true })]);
    admin.close();
    await release(LEAST_VALUES.watcher.eventsQueueUrl);
    const { server, caPem, tokens } = controlPlane;
    engine = await startEngine({
      clusters: [
        {
          ...{ id: ID, server, caPem, mode: 'observe' },
          watcher: { kind: 'none' },
          functions: { kind: 'none' },
          probe: { kind: 'bearer', token: tokens.admin },
        },
      ],
      log: createActivityLog().log,
      metrics: { count: () => undefined, record: () => undefined },
      watchersElsewhere: { secretAccessKey: 'chart' },
    });
  });
  after(async () => {
    await reaper.close();
    await engine.stop();
    helm.remove();
    await controlPlane.stop();
    rmSync(directory, { recursive: true });
  });

  /** What the kubelet would put into the environment, and the token that it would mount. */
  async function environmentOfPod(): Promise<NodeJS.ProcessEnv> {
    const read = async (what: string): Promise<unknown> =>
      JSON.parse(await kubectl.succeed(`-n rollcall-system get ${what} -o json`));
    const { spec } = ((await read('deployment/rollcall-watcher')) as Deployed).spec.template;
    const environment: Record<string, string> = {};
    const [{ env, envFrom }] = spec.containers;
    for (const { configMapRef, secretRef } of envFrom) {
      if (configMapRef !== undefined) {
        const { data } = (await read(`configmap/${configMapRef.name}`)) as Data;
        Object.assign(environment, data);
      }
      if (secretRef !== undefined) {
        const { data } = (await read(`secret/${secretRef.name}`)) as Data;
        for (const [name, value] of Object.entries(data)) {
          environment[name] = Buffer.from(value, 'base64').toString();
        }
      }
    }
    for (const { name, value = '127.0.0.1' } of env) {
      environment[name] = value.replace('$(POD_IP)', '127.0.0.1');
    }
    const token = await kubectl.succeed(
      `-n rollcall-system create token ${spec.serviceAccountName}`,
    );
    writeFileSync(path.join(directory, 'token'), token.trim());
    writeFileSync(path.join(directory, 'ca.crt'), controlPlane.caPem);
    return {
      ...environment,
      ROLLCALL_TOKEN_FILE: path.join(directory, 'token'),
      ROLLCALL_CA_FILE: path.join(directory, 'ca.crt'),
    };
  }

  const status = async (): Promise<string> => (await runOnEngine(['status'], { engine })).stdout;

  it('is shown by rollcall status, with its DaemonSet', async () => {
    await kubectl.succeed(['apply', '-f', repositoryPath('examples/log-collector.yaml')]);
    assert.doesNotMatch(await status(), /1 of 1 clusters/);
    const {
      ROLLCALL_EVENTS_QUEUE_URL = '',
      ROLLCALL_CLUSTER,
      ...rest
    } = engine.watcherEnvironment(ID);
    assert.equal(ROLLCALL_CLUSTER, ID);
    await release(ROLLCALL_EVENTS_QUEUE_URL);
    const literals = Object.entries(rest).map(([name, value]) => `--from-literal=${name}=${value}`);
    await kubectl.succeed([
      ...['-n', 'rollcall-system', 'create', 'secret', 'generic', 'rollcall-watcher-aws'],
      ...literals,
    ]);
    const watcher = spawn(process.execPath, [bundle], {
      env: await environmentOfPod(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (watcher.pid !== undefined) reaper.add(watcher.pid);
    let said = '';
    watcher.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await pollUntil({ deadlineMs: SHOWN_MS_MAX, description: 'the status' }, async () => {
      assert.equal(await status(), ALL_WELL, said.slice(-2000));
      return true;
    });
  });
});

interface Data {
  readonly data: Readonly<Record<string, string>>;
}

/**
 * A real control plane in observe, into which the chart is installed, and the engine that stands for the stack: it comes after
 * the chart, which makes the namespace. The fake kubelets run no container, so the tests do: with what the Deployment in the
 * cluster says.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findFreePorts } from '../../../scripts/lib/ports.ts';
import { clusterId } from '../../../src/core/model/identifiers.ts';
import { startEngine, type Engine } from '../../../src/engine/engine.ts';
import { runOnEngine } from '../../support/engine-commands.ts';
import { createApiClient } from '../control-plane/api.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { createNodes, fakeNode } from '../control-plane/nodes.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { createActivityLog } from '../scenarios/activity-log.ts';
import { LEAST_VALUES, openHelm, type ChartValues, type Helm } from './helm.ts';

const ID = clusterId(LEAST_VALUES.cluster);

/** What `rollcall status` says when the one node has its pod. */
export const ALL_WELL = '1 of 1 clusters, 1 of 1 DaemonSets, 1 of 1 pods are well\n';

/** The control plane. */
export interface Observed {
  readonly helm: Helm;
  readonly kubectl: Kubectl;
  readonly startStack: () => Promise<ObservingStack>;
  readonly close: () => Promise<void>;
}

/** The engine. */
export interface ObservingStack {
  /** Of the chart: how the watcher comes to this engine. */
  readonly values: () => Promise<ChartValues>;
  /** Makes the Secret of which the values speak. */
  readonly giveKeys: () => Promise<void>;
  /** What the kubelet would put into the environment, with the token that it would mount in a folder. */
  readonly environmentOfPod: (files: string) => Promise<Readonly<Record<string, string>>>;
  readonly status: () => Promise<string>;
}

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
interface Data {
  readonly data: Readonly<Record<string, string>>;
}

/** Opens it, with one node. */
export async function openObserved(): Promise<Observed> {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-observed-'));
  const controlPlane = await startControlPlane({
    ...{ limits: 'lifted', auditLog: false, daemonSetController: 'on' },
  });
  const helm = await openHelm(controlPlane.kubeconfigPath);
  const kubectl = bindKubectl({
    program: controlPlane.kubectlPath,
    kubeconfigPath: controlPlane.kubeconfigPath,
    cacheDirectory: path.join(directory, 'cache'),
  });
  const admin = createApiClient(controlPlane.connectionOf('admin'));
  await createNodes(admin, [fakeNode({ name: 'worker-1', registersReady: true })]);
  admin.close();
  const stops: (() => Promise<void>)[] = [controlPlane.stop];
  return {
    helm,
    kubectl,
    startStack: async () => {
      const { engine, stack } = await startStack(controlPlane, kubectl);
      stops.push(engine.stop);
      return stack;
    },
    close: async () => {
      for (const stop of stops.toReversed()) await stop();
      helm.remove();
      rmSync(directory, { recursive: true });
    },
  };
}

async function startStack(
  { server, caPem, tokens }: ControlPlane,
  kubectl: Kubectl,
): Promise<{ readonly engine: Engine; readonly stack: ObservingStack }> {
  const engine = await startEngine({
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
  const { ROLLCALL_EVENTS_QUEUE_URL: eventsQueueUrl, ...others } = engine.watcherEnvironment(ID);
  const keys = Object.entries(others).filter(([name]) => name !== 'ROLLCALL_CLUSTER');
  const stack: ObservingStack = {
    values: async () => {
      const [port] = await findFreePorts(1);
      const watcher = { eventsQueueUrl, port };
      return { ...LEAST_VALUES, credentials: 'static', apiServer: server, watcher };
    },
    giveKeys: async () => {
      await kubectl.succeed([
        ...['-n', 'rollcall-system', 'create', 'secret', 'generic', 'rollcall-watcher-aws'],
        ...keys.map(([name, value]) => `--from-literal=${name}=${String(value)}`),
      ]);
    },
    environmentOfPod: (files) => environmentOfPod({ kubectl, caPem, files }),
    status: async () => (await runOnEngine(['status'], { engine })).stdout,
  };
  return { engine, stack };
}

async function environmentOfPod({
  kubectl,
  caPem,
  files,
}: {
  readonly kubectl: Kubectl;
  readonly caPem: string;
  readonly files: string;
}): Promise<Readonly<Record<string, string>>> {
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
  const token = await kubectl.succeed(`-n rollcall-system create token ${spec.serviceAccountName}`);
  writeFileSync(path.join(files, 'token'), token.trim());
  writeFileSync(path.join(files, 'ca.crt'), caPem);
  return {
    ...environment,
    ROLLCALL_TOKEN_FILE: path.join(files, 'token'),
    ROLLCALL_CA_FILE: path.join(files, 'ca.crt'),
  };
}

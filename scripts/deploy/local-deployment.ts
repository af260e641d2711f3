/**
 * Everything that `npm run deploy:local` starts, in order: emulator, stack, cluster with watcher, examples.
 *
 *   emulator of AWS ── osls deploy ──▶ queues, tables, functions (processes of the emulator)
 *        ▲  SendMessage                        │ HTTPS over loopback
 *   watcher (process) ──list, watch──▶ local cluster (thread of this process)
 *
 * `stop` ends them in the opposite order. The reaper ends programs, and removes the directory with tokens and logs,
 * even when this process is killed.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openStack } from '../../src/cli/reach/open-stack.ts';
import type { Stack } from '../../src/cli/reach/stack.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { startReaper } from '../lib/reaper.ts';
import { awsEnvironment, REGION, STAGE } from './aws-environment.ts';
import { openEmulator, type Emulator } from './emulator.ts';
import { startManagedCluster, type ManagedCluster } from './managed-cluster.ts';
import { forgetLocalCluster } from './register.ts';
import { createRollcallCommand, type RollcallCommand } from './rollcall-command.ts';
import { createStackDeployment, type StackDeployment } from './stack-deployment.ts';

/** What to start. */
export interface LocalDeploymentOptions {
  readonly endpoint: URL;
  readonly nodeCount: number;
  /** The checkout to deploy. Default: this repository. */
  readonly checkout?: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly say: (text: string) => void;
  /** Something that was started died. */
  readonly onFailure: (error: Error) => void;
}

/** How long the steps took, in whole milliseconds. */
export type StepDurations = Readonly<Record<string, number>>;

/** A running deployment. */
export interface LocalDeployment {
  readonly emulator: Emulator;
  readonly deployment: StackDeployment;
  readonly stack: Stack;
  readonly managed: ManagedCluster;
  /** Starts and registers one more cluster, local-2 and so on. */
  readonly addCluster: (nodeCount: number) => Promise<ManagedCluster>;
  /** The command line of the checkout, against this stack. */
  readonly rollcall: RollcallCommand;
  /** Holds kubeconfig, tokens and logs while it runs. */
  readonly directory: string;
  readonly durationsMs: StepDurations;
  readonly stop: () => Promise<void>;
}

const EXAMPLES = ['log-collector', 'node-metrics', 'storage-daemon', 'gpu-telemetry'].map(
  (name) => `examples/${name}.yaml`,
);

/** Starts it; what was started is stopped again if a step fails. */
export async function startLocalDeployment(
  options: LocalDeploymentOptions,
): Promise<LocalDeployment> {
  const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-deploy-'));
  const reaper = startReaper({ temporaryDirectory: directory });
  const stops: (() => Promise<void> | void)[] = [() => reaper.close()];
  const stop = async (): Promise<void> => {
    for (const one of stops.splice(0).toReversed()) await one();
  };
  const { environment, say } = options;
  const durations: Record<string, number> = {};
  const timed = async <Result>(name: string, step: () => Promise<Result>): Promise<Result> => {
    const startedAtMs = performance.now();
    const result = await step();
    durations[name] = Math.round(performance.now() - startedAtMs);
    return result;
  };
  try {
    const request = { endpoint: options.endpoint, directory, reaper, say };
    const emulator = await timed('emulator', () => openEmulator(request));
    stops.push(() => emulator.stop());
    const aws = awsEnvironment(emulator.endpoint, environment);
    const deployment = createStackDeployment({
      environment: aws,
      ...(options.checkout === undefined ? {} : { directory: options.checkout }),
    });
    say('building and packaging …');
    await timed('package', () => deployment.package());
    say(`deploying the stack ${deployment.stackName} …`);
    await timed('deploy', () => deployment.deploy());
    useAws(aws);
    const stack = await openStack({ stage: STAGE, region: REGION, environment: aws });
    stops.push(() => {
      stack.close();
    });
    const { nodeCount, log, onFailure } = options;
    const { watcherFile, commandFile } = deployment;
    const rollcall = createRollcallCommand(commandFile, aws);
    let clusters = 0;
    const addCluster = async (nodes: number): Promise<ManagedCluster> => {
      clusters += 1;
      const added = await startManagedCluster({
        ...{ stack, rollcall, watcherFile, endpoint: emulator.endpoint },
        ...{ number: clusters, nodeCount: nodes, directory, reaper, log, say, onFailure },
      });
      stops.push(() => leave({ emulator, managed: added, rollcall }));
      return added;
    };
    const managed = await timed('cluster', () => addCluster(nodeCount));
    say('applying the examples …');
    await timed('examples', () => managed.apply(EXAMPLES));
    const parts = { emulator, deployment, stack, managed, addCluster, rollcall, directory };
    return { ...parts, durationsMs: durations, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Stops the cluster; an emulator that goes on is told to forget it. */
async function leave(parts: {
  readonly emulator: Emulator;
  readonly managed: ManagedCluster;
  readonly rollcall: RollcallCommand;
}): Promise<void> {
  const { emulator, managed, rollcall } = parts;
  await managed.stop();
  if (emulator.kind === 'found') await forgetLocalCluster(managed.cluster.id, rollcall);
}

/** The SDK's clients of this process read its environment; there is one deployment in a process. */
function useAws(aws: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('AWS_')) Reflect.deleteProperty(process.env, name);
  }
  for (const [name, value] of Object.entries(aws)) {
    if (name.startsWith('AWS_')) process.env[name] = value;
  }
}

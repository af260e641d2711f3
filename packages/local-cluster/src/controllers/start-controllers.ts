/**
 * The controllers of a local cluster, as kube-controller-manager runs them — without the DaemonSet controller: that is
 * Rollcall's part.
 *
 * All share one mirror of each collection; each writes under the name of its own service account. Differs from
 * Kubernetes: they are in system:masters, because their roles are not built in (access/).
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { ClientFactory } from '../client/local-client.ts';
import type {
  ControllerSettings,
  RunningController,
  StartController,
} from './shared/controller-context.ts';
import { startCustomKinds } from './custom-kinds.ts';
import { startGarbageCollector } from './garbage-collector.ts';
import { createKnownKinds } from './shared/known-resources.ts';
import { createMirrors, createPodsByNode } from './shared/mirrors.ts';
import { startNamespaceController } from './namespace-controller.ts';
import { startNodeLifecycle } from './node-lifecycle.ts';
import { startPodGc } from './pod-gc.ts';
import { startServiceAccountController } from './service-account-controller.ts';
import { startTaintEviction } from './taint-eviction.ts';

const CONTROLLERS: Readonly<Record<string, StartController>> = {
  'custom-kinds': startCustomKinds,
  'generic-garbage-collector': startGarbageCollector,
  'namespace-controller': startNamespaceController,
  'node-controller': startNodeLifecycle,
  'pod-garbage-collector': startPodGc,
  'service-account-controller': startServiceAccountController,
  'taint-eviction-controller': startTaintEviction,
};

/** What the controllers run on. */
export interface ControllersOptions {
  readonly clients: ClientFactory;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings?: ControllerSettings;
}

/** Starts all controllers; `stop` resolves when the work that was begun is finished. */
export function startControllers(options: ControllersOptions): RunningController {
  const { clients, clock, log, settings = {} } = options;
  const clientOf = (name: string): ReturnType<ClientFactory['clientFor']> =>
    clients.clientFor({ name, groups: ['system:masters', 'system:authenticated'] });
  const mirrors = createMirrors(clientOf('system:kube-controller-manager'));
  const kinds = createKnownKinds(mirrors);
  const podsByNode = createPodsByNode(mirrors);
  const running = Object.entries(CONTROLLERS).map(([name, start]) =>
    start({
      mirrors,
      kinds,
      podsByNode,
      client: clientOf(`system:serviceaccount:kube-system:${name}`),
      clock,
      log: log.with({ controller: name }),
      settings,
    }),
  );
  return {
    stop: async () => {
      mirrors.stop();
      await Promise.all(running.map((controller) => controller.stop()));
    },
  };
}

/**
 * The five programs of the control plane by name, and the handle with which tests disturb and
 * measure them.
 *
 * Restarting one program leaves the others alone; readiness is waited for where it can be asked,
 * which is the API server with etcd behind it.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from './api.ts';
import {
  apiServerCommand,
  controllerManagerCommand,
  etcdCommand,
  kwokCommand,
  schedulerCommand,
  type CommandLine,
  type Settings,
  type Wiring,
} from './component-flags.ts';
import {
  ComponentExitedError,
  isPortTaken,
  createComponent,
  type Component,
} from '../../../scripts/lib/component.ts';
import { pollUntil } from './poll.ts';
import { readCpuSeconds, readRssBytes } from './process-usage.ts';
import type { Reaper } from '../../../scripts/lib/reaper.ts';

/** The programs of the control plane, in the order in which they start. */
export const COMPONENT_NAMES = [
  'etcd',
  'apiServer',
  'controllerManager',
  'scheduler',
  'kwok',
] as const;

export type ComponentName = (typeof COMPONENT_NAMES)[number];

export type Components = Readonly<Record<ComponentName, Component>>;

/** Power over the processes of a control plane. */
export interface ComponentControl {
  readonly logPathOf: (component: ComponentName) => string;
  readonly pids: () => Readonly<Record<ComponentName, number | undefined>>;
  readonly pause: (component: ComponentName) => void;
  readonly resume: (component: ComponentName) => void;
  /** SIGKILL; resolves when the process is gone. */
  readonly kill: (component: ComponentName) => Promise<void>;
  /** Stops the component if it runs, and starts it; see above on readiness. */
  readonly restart: (component: ComponentName) => Promise<void>;
  /** User plus system CPU time of the running process. */
  readonly cpuSeconds: (component: ComponentName) => number;
  readonly rssBytes: (component: ComponentName) => number;
  /** Restarts the controller-manager only. */
  readonly setDaemonSetController: (mode: 'on' | 'off') => Promise<void>;
  /** Restarts the API server only. */
  readonly setWatchList: (mode: 'on' | 'off') => Promise<void>;
  /** Restarts the controller-manager only; the scheduler keeps the limits it started with. */
  readonly setControllerManagerLimits: (limits: 'default' | 'lifted') => Promise<void>;
}

/** How long a server may take to become ready. */
export const READY_DEADLINE_MS = 240_000;

/** Describes the programs; nothing is started. */
export function describeComponents(parts: {
  readonly wiring: Wiring;
  readonly settings: Settings;
  readonly reaper: Reaper;
}): Components {
  const { wiring, settings, reaper } = parts;
  const describe = (name: ComponentName, commandLine: () => CommandLine): Component =>
    createComponent({ name, commandLine, reaper, logPath: join(wiring.directory, `${name}.log`) });
  const limitsAtStart = settings.limits;
  return {
    etcd: describe('etcd', () => etcdCommand(wiring)),
    apiServer: describe('apiServer', () => apiServerCommand(wiring, settings)),
    controllerManager: describe('controllerManager', () =>
      controllerManagerCommand(wiring, settings)),
    scheduler: describe('scheduler', () => schedulerCommand(wiring, limitsAtStart)),
    kwok: describe('kwok', () => kwokCommand(wiring)),
  };
}

export function controlComponents(parts: {
  readonly components: Components;
  readonly settings: Settings;
  readonly openAdmin: () => ApiClient;
}): ComponentControl {
  const { components, settings, openAdmin } = parts;
  const pidOf = (name: ComponentName): number => {
    const pid = components[name].pid();
    if (pid === undefined) throw new ComponentExitedError(`${name} does not run`);
    return pid;
  };
  const restart = async (name: ComponentName): Promise<void> => {
    await components[name].stop();
    components[name].start();
    const servers = [components.etcd, components.apiServer];
    // With the other one down, on purpose, there is nothing to wait for.
    if (!servers.includes(components[name]) || servers.some((it) => it.pid() === undefined)) return;
    const admin = openAdmin();
    try {
      await untilItsPortIsFree(components[name], () => waitUntilReady(admin, servers));
    } finally {
      admin.close();
    }
  };
  return {
    logPathOf: (name) => components[name].logPath,
    pids: () => ({
      etcd: components.etcd.pid(),
      apiServer: components.apiServer.pid(),
      controllerManager: components.controllerManager.pid(),
      scheduler: components.scheduler.pid(),
      kwok: components.kwok.pid(),
    }),
    pause: (name) => {
      components[name].pause();
    },
    resume: (name) => {
      components[name].resume();
    },
    kill: (name) => components[name].kill(),
    restart,
    cpuSeconds: (name) => readCpuSeconds(pidOf(name)),
    rssBytes: (name) => readRssBytes(pidOf(name)),
    setDaemonSetController: async (mode) => {
      settings.daemonSetController = mode;
      await restart('controllerManager');
    },
    setWatchList: async (mode) => {
      settings.watchList = mode;
      await restart('apiServer');
    },
    setControllerManagerLimits: async (limits) => {
      settings.limits = limits;
      await restart('controllerManager');
    },
  };
}

const STARTS_MAX = 5;
const PORT_PAUSE_MS = 1_000;

/** While a server was down, a connection of somebody else may have got its port for a moment. */
async function untilItsPortIsFree(server: Component, wait: () => Promise<void>): Promise<void> {
  for (let start = 1; ; start += 1) {
    try {
      await wait();
      return;
    } catch (error) {
      if (!isPortTaken(error) || server.pid() !== undefined || start === STARTS_MAX) throw error;
      await delay(PORT_PAUSE_MS);
      server.start();
    }
  }
}

/** Waits for /readyz; fails at once if one of the needed programs ends. */
export async function waitUntilReady(
  client: ApiClient,
  needed: readonly Component[],
): Promise<void> {
  await pollUntil({ deadlineMs: READY_DEADLINE_MS, description: '/readyz' }, async () => {
    assertAllRunning(needed);
    const response = await client.request({ method: 'GET', path: '/readyz' });
    return response.status === 200 ? true : undefined;
  });
}

/** Throws with the end of the log of the first program that does not run. */
export function assertAllRunning(components: readonly Component[]): void {
  for (const component of components) component.assertRunning();
}

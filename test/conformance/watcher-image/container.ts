/**
 * The watcher's image as a container, under the security context that infra/watcher/deployment.yaml ships.
 *
 * runc runs it as a kubelet's runtime would: user and group, no capability, no new privileges, a root that is read-only,
 * the host's network. Memory is the kernel's count for the process.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { repositoryPath } from '../scenarios/repository.ts';
import { asRoot, type ImageConfiguration } from './image.ts';

export interface ContainerOptions {
  readonly id: string;
  /** Files of the image. */
  readonly root: string;
  readonly configuration: ImageConfiguration;
  readonly environment: Readonly<Record<string, string>>;
  /** Mounted read-only where it is. */
  readonly files: string;
  /** Where bundle and log go. */
  readonly directory: string;
}

export interface Container {
  /** Fields of /proc/PID/status of its only process. */
  readonly status: () => ReadonlyMap<string, string>;
  readonly log: () => string;
  readonly stop: () => void;
}

interface Security {
  readonly runAsUser: number;
  readonly runAsGroup: number;
  readonly readOnlyRootFilesystem: boolean;
  readonly allowPrivilegeEscalation: boolean;
  readonly capabilities: { readonly drop: readonly string[] };
}

/** The security context of the pod and its container, together. */
export function shippedSecurity(): Security {
  const file = repositoryPath('infra/watcher/deployment.yaml');
  const { spec } = parse(readFileSync(file, 'utf8')) as {
    readonly spec: { readonly template: { readonly spec: Record<string, unknown> } };
  };
  const pod = spec.template.spec as {
    readonly securityContext: object;
    readonly containers: readonly [{ readonly securityContext: object }];
  };
  return { ...pod.securityContext, ...pod.containers[0].securityContext } as Security;
}

/** Starts it. */
export function startContainer(options: ContainerOptions): Container {
  const { id, directory } = options;
  const bundle = path.join(directory, id);
  mkdirSync(bundle, { recursive: true });
  writeFileSync(path.join(bundle, 'config.json'), JSON.stringify(specification(options)));
  const state = path.join(directory, 'runc');
  const runtime = ['runc', '--root', state];
  const logFile = path.join(directory, `${id}.log`);
  const log = openSync(logFile, 'w');
  const words = [...runtime, 'run', '--bundle', bundle, id];
  const [program = '', ...rest] = process.getuid?.() === 0 ? words : ['sudo', '-n', ...words];
  const child = spawn(program, rest, { stdio: ['ignore', log, log] });
  child.on('error', (error) => {
    writeFileSync(logFile, error.message);
  });
  return {
    status: () => {
      const { pid } = JSON.parse(asRoot([...runtime, 'state', id])) as { readonly pid: number };
      const lines = readFileSync(`/proc/${pid}/status`, 'utf8').split('\n');
      return new Map(lines.map((line) => line.split(/:\s+/, 2) as [string, string]));
    },
    log: () => readFileSync(logFile, 'utf8'),
    stop: () => {
      asRoot([...runtime, 'delete', '--force', id]);
    },
  };
}

function specification(options: ContainerOptions): object {
  const { root, configuration, environment, files } = options;
  const security = shippedSecurity();
  const given = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return {
    ociVersion: '1.0.2',
    root: { path: root, readonly: security.readOnlyRootFilesystem },
    process: {
      user: { uid: security.runAsUser, gid: security.runAsGroup },
      args: configuration.Entrypoint,
      env: [...configuration.Env, ...given],
      cwd: '/',
      noNewPrivileges: !security.allowPrivilegeEscalation,
      // `drop: [ALL]`: nothing is left of them.
      capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: files, type: 'none', source: files, options: ['rbind', 'ro'] },
    ],
    linux: { namespaces: [{ type: 'mount' }, { type: 'pid' }, { type: 'ipc' }, { type: 'uts' }] },
  };
}

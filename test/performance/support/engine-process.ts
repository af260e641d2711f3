/**
 * Rollcall's engine in a process of its own, so that its CPU time is nobody else's; the benchmark's
 * side. `engine-child.ts` is the other side.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { ControlPlane } from '../../conformance/control-plane/control-plane.ts';
import { readCpuSeconds } from '../../conformance/control-plane/process-usage.ts';
import { nodeFlagsOf } from '../../../scripts/lib/node-flags.mjs';

export interface EngineChildSettings {
  readonly server: string;
  readonly caPem: string;
  readonly watcherToken: string;
  readonly functionsToken: string;
  readonly adminToken: string;
  /** Whether the overview is read over and over, as the table of `npm start` does. */
  readonly readsTable: boolean;
}

/** Counters since the start. */
export interface EngineUsage {
  readonly cpuSeconds: number;
  /** messages, hints, invocations, reads, writes, kubernetes. */
  readonly requests: Readonly<Record<string, number>>;
}

export interface EngineProcess {
  readonly pid: number;
  readonly usage: () => Promise<EngineUsage>;
  readonly stop: () => Promise<void>;
}

/**
 * Flags of the child's Node, e.g. `--cpu-prof --cpu-prof-dir=/tmp/profile`. With `|` between them there are several sets, of which
 * each engine that is started takes the next: `npm run bench -- join rollcall rollcall` compares two on one control plane.
 */
const FLAG_SETS = (process.env['BENCH_ENGINE_FLAGS'] ?? '')
  .split('|')
  .map((flags) => flags.split(' ').filter(Boolean));
let startedCount = 0;

function nextFlags(): string[] {
  const flags = FLAG_SETS[startedCount % FLAG_SETS.length] ?? [];
  startedCount += 1;
  return flags;
}

/** Starts the engine in takeover; resolves when it runs. */
export async function startEngineProcess(
  controlPlane: ControlPlane,
  { readsTable }: Pick<EngineChildSettings, 'readsTable'> = { readsTable: false },
): Promise<EngineProcess> {
  const child = fork(new URL('./engine-child.ts', import.meta.url).pathname, [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [...nodeFlagsOf('src/cli/main.ts'), ...nextFlags()],
  });
  const settings: EngineChildSettings = {
    server: controlPlane.server,
    caPem: controlPlane.caPem,
    watcherToken: controlPlane.tokens.watcher,
    functionsToken: controlPlane.tokens.functions,
    adminToken: controlPlane.tokens.admin,
    readsTable,
  };
  child.send(settings);
  const [first] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
  if (first !== 'started') throw new Error(`the engine did not start: ${String(first)}`);
  const { pid } = child;
  if (pid === undefined) throw new Error('the engine has no process id');
  return {
    pid,
    usage: async () => {
      child.send('usage');
      const [requests] = (await once(child, 'message')) as [Record<string, number>];
      return { cpuSeconds: readCpuSeconds(pid), requests };
    },
    stop: async () => {
      const exited = once(child, 'exit');
      child.send('stop');
      await exited;
    },
  };
}

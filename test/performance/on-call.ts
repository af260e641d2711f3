/**
 * `npm run bench -- on-call`: each command of docs/on-call.md as a whole process, and what `rollcall log` costs to read.
 *
 * The built command over the scene of support/fleet-scene.ts: 100 clusters of 200 nodes with 20 DaemonSets each (`BENCH_CLUSTERS`,
 * `BENCH_DAEMONSETS`). From its start to its end, with the stack at work and with the stack stopped. Leaves with 1 when the median of
 * one takes longer than two seconds.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readLog } from '../../src/app/log/read-log.ts';
import { SeenStates } from '../../src/app/log/read-states.ts';
import { EXIT } from '../../src/cli/process/exit-codes.ts';
import { STACK_OUTPUT_NAMES } from '../../src/cli/reach/stack.ts';
import { clusterId } from '../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import { NO_FREEZE } from '../../src/core/may-act/freeze.ts';
import { repositoryRoot as root } from '../../scripts/lib/run-tool.ts';
import { clock, closeScene, endpoint, reads, storeFleet, stores } from './support/fleet-scene.ts';
import { say } from './support/say.ts';
import { percentile, renderRows } from './support/statistics.ts';

const CLUSTERS = Number(process.env['BENCH_CLUSTERS'] ?? 100);
const SETS = Number(process.env['BENCH_DAEMONSETS'] ?? 20);
const ROUNDS = 5;
const GOAL_MS = 2000;
const FOLLOW_LOOKS = 12;

/** The questions of the page. */
const QUESTIONS: readonly (readonly [question: string, argv: string])[] = [
  ['is everything well?', 'status'],
  ['why is there no pod on a node?', 'why --cluster c0 --node ip-10-0-0-1.internal'],
  ['which nodes in which clusters lack it?', 'why ops/agent-0'],
  ['what changed at 03:00?', 'log --since 8h'],
  ['is v2 proceeding?', 'rollout status c0 ops/agent-0'],
  ['who froze this?', 'cluster list'],
  ['what does it cost?', 'cost'],
];
const ANSWERED: readonly number[] = [EXIT.ok, EXIT.held, EXIT.stopped, EXIT.notWell];

const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-on-call-'));
const outputs = path.join(directory, 'outputs.json');
const tables: Readonly<Record<string, string>> = {
  RegistryTableName: 'registry',
  ViewTableName: 'view',
};
const values = STACK_OUTPUT_NAMES.map((name) => [name, tables[name] ?? 'none']);
await writeFile(outputs, JSON.stringify(Object.fromEntries(values)));

/** Runs it to its end; in milliseconds. */
async function timed(argv: string): Promise<number> {
  const program = path.join(root, 'dist/cli/rollcall.mjs');
  const beganMs = clock.monotonicMs();
  const child = spawn(
    process.execPath,
    [
      program,
      ...argv.split(' '),
      '--stage',
      'dev',
      '--region',
      'us-east-1',
      '--stack-outputs',
      outputs,
    ],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        AWS_ENDPOINT_URL: endpoint,
        AWS_ACCESS_KEY_ID: 'bench',
        AWS_SECRET_ACCESS_KEY: 'bench',
      },
    },
  );
  const [code] = (await once(child, 'exit')) as [number];
  if (!ANSWERED.includes(code)) throw new Error(`rollcall ${argv} left with ${String(code)}`);
  return clock.monotonicMs() - beganMs;
}

async function timesOf(argv: string): Promise<readonly number[]> {
  const all: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) all.push(await timed(argv));
  return all;
}

/** Read units of one look of `log`, and of each further one of `--follow` where nothing moves. */
async function readUnits(): Promise<readonly [one: number, further: number]> {
  const found = await Promise.all(
    Array.from({ length: CLUSTERS }, (_, index) =>
      stores.registry.readCluster(clusterId(`c${String(index)}`)),
    ),
  );
  const registrations = found.filter((one): one is ClusterRegistration => one !== undefined);
  const seen = new SeenStates();
  const look = async (): Promise<number> => {
    const nowMs = clock.nowMs();
    Object.assign(reads, { requests: 0, units: 0 });
    const sources = { view: stores.view, registrations, freeze: NO_FREEZE, nowMs, seen };
    await readLog({ sinceMs: nowMs - 600_000, untilMs: nowMs }, sources);
    return reads.units;
  };
  const first = await look();
  let further = 0;
  for (let turn = 0; turn < FOLLOW_LOOKS; turn += 1) further += await look();
  return [first, further / FOLLOW_LOOKS];
}

try {
  say(`storing ${String(CLUSTERS)} clusters`);
  await storeFleet({ clusters: CLUSTERS, daemonSets: SETS });
  const working = new Map<string, readonly number[]>();
  for (const [, argv] of QUESTIONS) working.set(argv, await timesOf(argv));
  const note = { by: 'ann', why: 'a measurement', atMs: clock.nowMs() };
  await stores.freezes.writeStop({ ...note, functions: ['reconcile'] });
  const rows: (readonly string[])[] = [];
  for (const [question, argv] of QUESTIONS) {
    const each = [working.get(argv) ?? [], await timesOf(argv)];
    const medians = each.map((all) => percentile(all, 50));
    if (medians.some((medianMs) => medianMs > GOAL_MS)) process.exitCode = 1;
    const cells = [...medians, Math.max(...each.flat())].map((ms) => ms.toFixed(0));
    rows.push([question, argv, ...cells]);
  }
  const headings = ['question', 'command', 'median, ms', 'stopped, ms', 'longest, ms'];
  process.stdout.write(`${renderRows([headings, ...rows])}\n`);
  const [one, further] = await readUnits();
  process.stdout.write(
    `read units of a look of log: ${one.toFixed(0)}; of each further one of --follow: ${further.toFixed(0)}\n`,
  );
} finally {
  closeScene();
  await rm(directory, { recursive: true });
}

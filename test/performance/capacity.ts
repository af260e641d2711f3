/**
 * `npm run bench -- capacity [--json]`: how many changes a fleet's functions keep up with, from CPU measured here.
 *
 * What bounds `ingest` is packing: each slice that a message touches is decoded, edited and encoded again. The CPU of one
 * such slice is measured by its size; the rest is arithmetic for memory sizes of Lambda, where 1,769 MB are one vCPU, and
 * for the pace at which a watcher flushes. Of `reconcile`, places and an assumed duration are divided by the runs that
 * `bench -- cost` counts. CPU time, so a busy machine blurs it little; a vCPU of Lambda is not one of a laptop. Bounded.
 */
import { createHash } from 'node:crypto';
import { decodeBody, encodeBody } from '../../src/adapters/dynamodb/item-codec.ts';
import { DEFAULT_WATCHER_OPTIONS } from '../../src/watcher/session/options.ts';
import { renderRows } from './support/statistics.ts';

const ROUNDS = 200;
const VCPU_MB = 1_769;
const MEMORIES_MB = [512, 1_024, VCPU_MB];
const SETS = 10;
const SLICES = 16;
const NODES = [1_000, 5_000, 15_000];

const BENCH = { pk: 'NODES', sk: 'SLICE' };

/** A slice as ingest stores it, with names and uids that do not compress away. */
function sliceOf(pods: number): readonly unknown[] {
  return Array.from({ length: pods }, (_, index) => {
    const noise = createHash('sha256').update(String(index)).digest('hex');
    return {
      object: {
        kind: 'Pod',
        name: `agent-${noise.slice(0, 10)}`,
        namespace: 'ops',
        uid: noise.slice(0, 36),
        resourceVersion: String(1_000_000 + index * 7),
        nodeName: `ip-10-0-${noise.slice(36, 42)}.internal`,
        labels: { app: 'agent', 'controller-revision-hash': 'abcdef' },
        phase: 'Running',
        isReady: true,
      },
      hash: parseInt(noise.slice(0, 12), 16),
    };
  });
}

/** CPU milliseconds to unpack and pack one slice. */
function cpuMsOf(pods: number): number {
  let body = encodeBody(BENCH, sliceOf(pods));
  const before = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round += 1) {
    body = encodeBody(BENCH, decodeBody(BENCH, body));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / ROUNDS;
}

const { intervalMs, intervalMsMax, intervalMsPerSlice, intervalMsPerObject } =
  DEFAULT_WATCHER_OPTIONS.flush;
const touched = SETS * SLICES;
const [fewest = 0] = NODES;
const workMs = touched * intervalMsPerSlice + SETS * fewest * intervalMsPerObject;
const paceMs = Math.max(intervalMs, Math.min(intervalMsMax, workMs));
// The first sizes warm the process up.
for (const nodes of NODES) cpuMsOf(Math.ceil(nodes / SLICES));
const found = NODES.map((nodes) => {
  const sliceMs = cpuMsOf(Math.ceil(nodes / SLICES));
  const flushMs = MEMORIES_MB.map((memory) => (touched * sliceMs * VCPU_MB) / memory);
  return { nodes, sliceMs, flushMs };
});
if (process.argv.includes('--json')) {
  process.stdout.write(`${JSON.stringify({ touched, paceMs, memoriesMb: MEMORIES_MB, found })}\n`);
} else {
  const header = [
    'nodes',
    'CPU ms of a slice',
    ...MEMORIES_MB.map((memory) => `ms of a flush at ${String(memory)} MB`),
  ];
  const rows = found.map(({ nodes, sliceMs, flushMs }) => [
    String(nodes),
    sliceMs.toFixed(1),
    ...flushMs.map((ms) => ms.toFixed(0)),
  ]);
  process.stdout.write(`${renderRows([header, ...rows])}\n`);
  process.stdout.write(
    `${String(SETS)} DaemonSets that churn everywhere touch ${String(touched)} slices in a flush; the watcher sends one in ${String(paceMs)} ms.\n`,
  );
}

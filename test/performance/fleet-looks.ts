/**
 * `npm run bench -- fleet-looks`: a release to 10,000 clusters by a function `fleet` of 512 MB and 55 s.
 *
 * The real steps over model clusters, with DaemonSets of 20 KB that are decoded as those of the table are. The clock of an invocation
 * is the CPU that it took here, times 3.5, since 512 MB are 0.29 CPUs; one that takes 55 s ends in the middle. The heap is what lives
 * after a collection. Exits 1 if an invocation ran out of time, or lives on more than half of the memory. `BENCH_CLUSTERS` is how many
 * clusters there are, `BENCH_MEMORY` the MB.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { decodeBody, encodeBody } from '../../src/adapters/dynamodb/item-codec.ts';
import type { StepFleetsDependencies } from '../../src/app/fleet/observe/dependencies.ts';
import { FleetSite, KIND_SITE } from '../support/fleet-simulation/fleet-site.ts';
import { modelView } from '../support/fleet-simulation/model-ports.ts';
import { holding, isDone, isHalted, many } from '../support/fleet-simulation/small-site.ts';
import { Dice } from '../support/simulation/dice.ts';
import { say } from './support/say.ts';
import { renderRows } from './support/statistics.ts';

const CLUSTERS = Number(process.env['BENCH_CLUSTERS'] ?? 10_000);
/** MB of Lambda that are one CPU. */
const ONE_CPU_MB = 1769;
const MEMORY_MB = Number(process.env['BENCH_MEMORY'] ?? 512);
/** Looks from one collection to the next. */
const COLLECT_EVERY = 1000;
const HEAP_MIB_MAX = MEMORY_MB / 2;
const BYTES_PER_MIB = 2 ** 20;
const SPEC = {
  placement: { all: true },
  strategy: {
    stages: [
      { name: 'canary', clusters: 1 },
      { name: 'early', clusters: '10%' },
    ],
    soak: '10m',
    maxConcurrency: '25%',
  },
};

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const key = { pk: 'bench', sk: 'daemon-set' };
const fields = Array.from({ length: 300 }, (_, index) => ({
  [`f:field-${String(index)}`]: { 'f:name': {}, 'f:value': { text: `value of ${String(index)}` } },
}));
const body = encodeBody(key, fields);

/** Each DaemonSet with fields of its own. */
function largeView(find: Parameters<typeof modelView>[0]): StepFleetsDependencies['view'] {
  const view = modelView(find);
  return {
    ...view,
    readDaemonSet: async (ref) => {
      const item = await view.readDaemonSet(ref);
      return (
        item && {
          ...item,
          object: item.object && { ...item.object, fields: decodeBody(key, body) },
        }
      );
    },
  };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

interface Turns {
  turns: number;
  longestMs: number;
  /** Until the record was written, with what was decided. */
  recordMs: number;
  looks: number;
  heapMib: number;
}

async function main(): Promise<void> {
  const site = new FleetSite(many(CLUSTERS, { nodes: 10 }), new Dice(1), KIND_SITE);
  await site.open();
  await site.release('agent:1', SPEC);
  await site.until('the first release is out', () => isDone(site, 'agent:1'));
  collect();
  const baseMib = process.memoryUsage().heapUsed / BYTES_PER_MIB;
  site.viewOf = largeView;
  let [lastMs, spentMs, peakMib, looks] = [cpuMs(), 0, 0, 0];
  let recordMs: number | undefined;
  site.costMsOf = (operation) => {
    const costMs = ((cpuMs() - lastMs) * ONE_CPU_MB) / MEMORY_MB;
    spentMs += costMs;
    if (operation === 'writeRecord') recordMs ??= spentMs;
    if (operation === 'readDaemonSet') looks += 1;
    if (operation === 'readDaemonSet' && looks % COLLECT_EVERY === 0) {
      collect();
      peakMib = Math.max(peakMib, process.memoryUsage().heapUsed / BYTES_PER_MIB - baseMib);
    }
    lastMs = cpuMs();
    return costMs;
  };
  const until = async (isSo: () => boolean): Promise<Turns> => {
    const found: Turns = { turns: 0, longestMs: 0, recordMs: 0, looks: 0, heapMib: 0 };
    site.items.clear();
    for (; found.turns < 1000 && !isSo(); found.turns += 1) {
      [spentMs, peakMib, recordMs] = [0, 0, undefined];
      for (const cluster of site.clusters) cluster.heardAtMs = site.nowMs;
      lastMs = cpuMs();
      await site.turn();
      found.longestMs = Math.max(found.longestMs, spentMs);
      found.recordMs = Math.max(found.recordMs, recordMs ?? 0);
      found.heapMib = Math.max(found.heapMib, peakMib);
    }
    return { ...found, looks: site.items.get('readDaemonSet') ?? 0 };
  };
  await site.release('agent:2', SPEC);
  const rows = new Map<string, Turns>();
  rows.set('all have it', await until(() => holding(site, 'agent:2').length === CLUSTERS));
  rows.set('it is done', await until(() => isDone(site, 'agent:2')));
  await site.release('agent:3', SPEC);
  rows.set(
    'the next: all have it',
    await until(() => holding(site, 'agent:3').length === CLUSTERS),
  );
  for (const { rolling } of site.clusters.slice(-2)) if (rolling) rolling.breach = 'Restarts';
  rows.set('two failed: halted', await until(() => isHalted(site, 'agent:3')));
  await site.order('undo');
  rows.set('undo: all are back', await until(() => holding(site, 'agent:2').length === CLUSTERS));
  const head = ['', 'turns', 'looks', 'longest turn, s', 'until its record, s', 'heap, MiB'];
  const cells = [...rows].map(([what, { turns, longestMs, ...row }]) => [
    ...[what, String(turns), String(row.looks)],
    ...[longestMs / 1000, row.recordMs / 1000, row.heapMib].map((value) => value.toFixed(0)),
  ]);
  say(`${String(CLUSTERS)} clusters, ${String(site.timeouts)} turns ran out of time`);
  say(renderRows([head, ...cells]));
  const heapMib = Math.max(...[...rows.values()].map((row) => row.heapMib));
  if (site.timeouts > 0 || heapMib > HEAP_MIB_MAX) process.exitCode = 1;
}

await main();

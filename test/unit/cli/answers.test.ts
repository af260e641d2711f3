/**
 * What each command that answers about state says in the worst hour: the first line, the phase and the exit code of each cell
 * (issue 39, B.3). States are made by test/support/answer-scene.ts.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasFailed } from '../../../src/app/checks/finding.ts';
import { checked } from '../../../src/app/checks/needs.ts';
import { findMissedRuns, outagesOfStack, readStanding } from '../../../src/app/why/standing.ts';
import { uncoloured } from '../../../src/cli/command-line/colour.ts';
import { outageLines } from '../../../src/cli/command-line/freeze-words.ts';
import { renderTable } from '../../../src/cli/start/table.ts';
import { presentCheck } from '../../../src/cli/stack/check-stack.ts';
import { Overviews } from '../../../src/engine/overview.ts';
import { diagnose, healthyFacts, takenOver } from '../../support/doctor-facts.ts';
import { MINUTE_MS, Scene, type State } from '../../support/answer-scene.ts';

/** What is asked over the stores alone. */
const COMMANDS = {
  'cluster list': ['cluster', 'list'],
  'cluster show': ['cluster', 'show', 'a'],
  status: ['status'],
  why: ['why', 'system/agents', '--cluster', 'a'],
  'rollout status': ['rollout', 'status', 'a', 'system/agents'],
  'rollout status --watch': [
    'rollout',
    'status',
    'a',
    'system/agents',
    '--watch',
    '--timeout',
    '30',
  ],
  'fleet status': ['fleet', 'status', 'monitoring/agent'],
} as const;

type Command = keyof typeof COMMANDS | 'cluster doctor' | 'stack check' | 'npm start';

/**
 * The first line with `T` for each time, the exit code, and in a word how it stands: the phase, how many nodes have which code, or
 * what is found wrong.
 */
type Cell = readonly [line: string, exitCode: number, standing?: string];

const STOPPED =
  '! stopped since T by ann (INC-1): nothing is created, deleted or changed in any cluster; go on: rollcall stack resume';
const FROZEN =
  '! The whole stack is frozen by ann (INC-1), since T: nothing is created, deleted or changed in any cluster; go on: rollcall thaw --yes';
const SILENT =
  '! nothing was heard of the watcher of a since T: what is told is as of then; look: rollcall cluster doctor a';
const STANDS_BY =
  '! the watcher of a stands by since T, as laptop holds its Lease: what is told is as of then; end that one, or look: rollcall cluster doctor a';
const BEHIND =
  '! a look has been due since T, and no function came: nothing acts; look: rollcall stack check';
const THROTTLED =
  '! no function has come to its turn since T (resync): nothing acts; look: rollcall stack check';
const UNREACHABLE =
  '! the API server of a does not answer the functions, which asked last at T and go on asking; look: rollcall cluster doctor a';
/** Where nothing stands above the answer. */
const LIST = 'ID MODE STATE PODS FROZEN ENDPOINT HEARD VIEW NOTE';
const HEADINGS = 'NAMESPACE  NAME    DESIRED  CURRENT  READY  UP-TO-DATE  AVAILABLE';
const SHOW = 'id: a';
const FLEET = 'monitoring/agent: Done';
const DONE = 'a/system/agents: Done: every node runs the newest template';

const WELL = '1 of 1 clusters, 1 of 1 DaemonSets, 3 of 3 pods, 1 of 1 fleets are well';
const HALTED =
  'Halted system/agents: in a, OOMKilled at T: 1 of 3 canaries was killed for its memory; all steps are done, 3 of 3 nodes updated';
/** What is said above other answers, without the mark and the command. */
const ofCluster = (line: string): string => line.replace(/^! /, '').replace(/; (?:end|look).*/, '');

const TOO_LARGE =
  'error: The nodes of a/system/agents cannot be judged now: its object has 167 KiB, and a watcher sends at most 150 KiB of one. Runs read it from the API server, which this command does not ask.';

const TABLE: Readonly<Record<State, Readonly<Record<Command, Cell>>>> = {
  well: {
    'cluster list': [LIST, 0],
    'cluster show': [SHOW, 0],
    status: [WELL, 0],
    why: ['a/system/agents: 3 Running; told at T', 0, '3 Running'],
    'rollout status': [DONE, 0, 'Done'],
    'rollout status --watch': [DONE, 0, 'Done'],
    'fleet status': [FLEET, 0, 'Done'],
    'cluster doctor': ['Cluster a', 0],
    'stack check': ['', 0],
    'npm start': [HEADINGS, 0],
  },
  stopped: {
    'cluster list': [STOPPED, 0],
    'cluster show': [STOPPED, 0],
    status: [STOPPED, 7],
    why: [STOPPED, 7, '3 WaitingForCluster'],
    'rollout status': [STOPPED, 7, 'Stopped'],
    'rollout status --watch': [STOPPED, 7, 'Stopped'],
    'fleet status': [STOPPED, 7, 'Stopped'],
    'cluster doctor': [STOPPED, 1, 'stopped'],
    'stack check': ['stopped', 1],
    'npm start': [STOPPED, 0],
  },
  frozen: {
    'cluster list': [FROZEN, 0],
    'cluster show': [FROZEN, 0],
    status: [FROZEN, 8, 'Lacking'],
    why: [FROZEN, 0, '3 WaitingForCluster'],
    'rollout status': [FROZEN, 0, 'Progressing'],
    'rollout status --watch': [FROZEN, 4, 'Progressing'],
    'fleet status': [FROZEN, 0, 'Done'],
    'cluster doctor': [FROZEN, 0, 'stack-frozen'],
    'stack check': ['frozen', 1],
    'npm start': [HEADINGS, 0],
  },
  'watcher gone': {
    'cluster list': [LIST, 0, 'watcher-silent'],
    'cluster show': [SILENT, 0, 'cluster-silent'],
    status: [`Silent a: ${ofCluster(SILENT)}`, 7, 'Silent'],
    why: [SILENT, 7, '3 Running'],
    'rollout status': [SILENT, 7, 'Stopped'],
    'rollout status --watch': [SILENT, 7, 'Stopped'],
    'fleet status': [FLEET, 0, 'Done'],
    'cluster doctor': ['Cluster a', 1, 'cluster-silent'],
    'stack check': ['', 0],
    'npm start': [SILENT, 0],
  },
  'watcher stood by': {
    'cluster list': [LIST, 0, 'watcher-stands-by'],
    'cluster show': [STANDS_BY, 0, 'watcher-stands-by, view-stuck'],
    status: [`StandsBy a: ${ofCluster(STANDS_BY)}`, 7, 'StandsBy'],
    why: [STANDS_BY, 7, '3 WaitingForCluster'],
    'rollout status': [STANDS_BY, 7, 'Stopped'],
    'rollout status --watch': [STANDS_BY, 7, 'Stopped'],
    'fleet status': [FLEET, 0, 'Done'],
    'cluster doctor': ['Cluster a', 1, 'watcher-stands-by, view-stuck'],
    'stack check': ['', 0],
    'npm start': [STANDS_BY, 0],
  },
  'reconcile behind': {
    'cluster list': [LIST, 0, 'functions-behind'],
    'cluster show': [BEHIND, 0],
    status: [`Behind a: ${ofCluster(BEHIND)}`, 7, 'Behind'],
    why: [BEHIND, 7, '3 WaitingForCluster'],
    'rollout status': [BEHIND, 7, 'Stopped'],
    'rollout status --watch': [BEHIND, 7, 'Stopped'],
    'fleet status': [FLEET, 0, 'Done'],
    'cluster doctor': ['Cluster a', 1, 'functions-behind'],
    'stack check': ['', 0],
    'npm start': [BEHIND, 0],
  },
  'all functions behind': {
    'cluster list': [THROTTLED, 0, 'functions-behind'],
    'cluster show': [THROTTLED, 0],
    status: [THROTTLED, 7],
    why: [THROTTLED, 7, '3 WaitingForCluster'],
    'rollout status': [THROTTLED, 7, 'Stopped'],
    'rollout status --watch': [THROTTLED, 7, 'Stopped'],
    'fleet status': [THROTTLED, 7, 'Stopped'],
    'cluster doctor': [THROTTLED, 1, 'functions-behind'],
    'stack check': ['functions-behind', 1],
    'npm start': [THROTTLED, 0],
  },
  'API server gone': {
    'cluster list': [LIST, 0, 'api-server-unreachable'],
    'cluster show': [UNREACHABLE, 0, 'breaker-open'],
    status: [`Unreachable a: ${ofCluster(UNREACHABLE)}`, 8, 'Unreachable'],
    why: [UNREACHABLE, 0, '3 WaitingForCluster'],
    'rollout status': [UNREACHABLE, 0, 'Waiting'],
    'rollout status --watch': [UNREACHABLE, 4, 'Waiting'],
    'fleet status': [FLEET, 0, 'Done'],
    'cluster doctor': ['Cluster a', 1, 'breaker-open'],
    'stack check': ['', 0],
    'npm start': [UNREACHABLE, 0],
  },
  'first release': {
    'cluster list': [LIST, 0],
    'cluster show': [SHOW, 0],
    status: [
      'Lacking system/agents: lacks 1 of 3 pods in a: its pod is starting (1)',
      8,
      'Lacking',
    ],
    why: ['a/system/agents: 2 Running, 1 Pending; told at T', 0, '2 Running, 1 Pending'],
    'rollout status': [
      'a/system/agents: Progressing: 2 of 3 updated pods are available',
      0,
      'Progressing',
    ],
    'rollout status --watch': [
      'a/system/agents: Progressing: 2 of 3 updated pods are available',
      4,
      'Progressing',
    ],
    'fleet status': [FLEET, 0, 'Done'],
    'cluster doctor': ['Cluster a', 0],
    'stack check': ['', 0],
    'npm start': [HEADINGS, 0],
  },
  'nothing eligible': {
    'cluster list': [LIST, 0],
    'cluster show': [SHOW, 0],
    status: [`${WELL.replace('3 of 3', '0 of 0')}; 1 DaemonSet without an eligible node`, 0],
    why: ['a/system/agents: 3 NotWanted; told at T', 0, '3 NotWanted'],
    'rollout status': ['a/system/agents: Done: 0 of 3 nodes are eligible, 3 before', 0, 'Done'],
    'rollout status --watch': [
      'a/system/agents: Done: 0 of 3 nodes are eligible, 3 before',
      0,
      'Done',
    ],
    'fleet status': [FLEET, 0, 'Done'],
    'cluster doctor': ['Cluster a', 0],
    'stack check': ['', 0],
    'npm start': [HEADINGS, 0],
  },
  halted: {
    'cluster list': [LIST, 0],
    'cluster show': [SHOW, 0],
    status: [HALTED, 8, 'Halted'],
    why: ['a/system/agents: 3 Running; told at T', 0, '3 Running'],
    'rollout status': ['a/system/agents: Halted', 0, 'Halted'],
    'rollout status --watch': ['a/system/agents: Halted', 5, 'Halted'],
    'fleet status': [FLEET, 0, 'Done'],
    'cluster doctor': ['Cluster a', 0],
    'stack check': ['', 0],
    'npm start': [HEADINGS, 0],
  },
  'object too large': {
    'cluster list': [LIST, 0],
    'cluster show': [SHOW, 0],
    status: [WELL, 0],
    why: [TOO_LARGE, 1],
    'rollout status': [DONE, 0, 'Done'],
    'rollout status --watch': [DONE, 0, 'Done'],
    'fleet status': [FLEET, 0, 'Done'],
    'cluster doctor': ['Cluster a', 0],
    'stack check': ['', 0],
    'npm start': [HEADINGS, 0],
  },
  'held by a fleet': {
    'cluster list': [LIST, 0],
    'cluster show': [SHOW, 0],
    status: [
      'AwaitsApproval system/agents: stage first (1 of 3), 1 rolling: waits for approval after stage first (gate 1)',
      8,
      'AwaitsApproval',
    ],
    why: ['a/system/agents: 3 Running; told at T', 0, '3 Running'],
    'rollout status': [DONE, 0, 'Done'],
    'rollout status --watch': [DONE, 0, 'Done'],
    'fleet status': [FLEET, 0, 'Done'],
    'cluster doctor': ['Cluster a', 0],
    'stack check': ['', 0],
    'npm start': [HEADINGS, 0],
  },
};

const timeless = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T');

async function ask(scene: Scene, command: Command): Promise<Cell> {
  if (command === 'cluster doctor') return examine(scene);
  if (command === 'stack check') return checkStack(scene);
  if (command === 'npm start') return drawTable(scene);
  const { commands } = scene;
  const run = await commands.run([...COMMANDS[command]]);
  const [line = ''] = timeless(run.stdout === '' ? run.stderr : run.stdout).split('\n');
  const first = line.replaceAll(/ +/g, ' ');
  const document = (await commands.run([...COMMANDS[command], '--json'])).document();
  const standing = standingIn(document);
  return standing.length === 0 ? [first, run.exitCode] : [first, run.exitCode, standing.join(', ')];
}

function standingIn(document: Readonly<Record<string, unknown>>): readonly string[] {
  const told = document as {
    readonly phase?: string;
    readonly answers?: readonly { readonly counts?: Readonly<Record<string, number>> }[];
    readonly findings?: readonly { readonly code: string; readonly state?: string }[];
    readonly standing?: string;
    readonly clusters?: readonly { readonly outages: readonly { readonly code: string }[] }[];
  };
  if (told.phase !== undefined) return [told.phase];
  if (told.standing !== undefined) return (told.findings ?? []).map(({ state = '' }) => state);
  if (told.answers !== undefined) {
    const counts = Object.entries(told.answers[0]?.counts ?? {});
    return counts.map(([code, count]) => `${String(count)} ${code}`);
  }
  const inClusters = (told.clusters ?? []).flatMap(({ outages }) => outages);
  return [...(told.findings ?? []), ...inClusters].map(({ code }) => code);
}

/** By the facts of a cluster in health, but for what tables say. */
async function examine({ stores, runs }: Scene): Promise<Cell> {
  const { registration, clock } = runs;
  const nowMs = clock.nowMs();
  const freeze = await stores.freezes.readFreeze();
  const standing = await readStanding(stores);
  const findings = diagnose({
    ...healthyFacts({ ...takenOver, id: registration.id }),
    ...{ nowMs, freeze: checked(freeze), standing: checked(standing) },
    meta: checked(await stores.view.readMeta(registration.clusterUid)),
    missed: checked(await findMissedRuns(registration, stores, nowMs)),
  });
  const codes = findings
    .filter(({ level }) => level === 'failed' || level === 'warning')
    .map(({ code }) => code);
  const [line = 'Cluster a'] = outageLines(outagesOfStack(standing, { freeze, nowMs })).map(
    uncoloured,
  );
  const exitCode = hasFailed(findings) ? 1 : 0;
  return codes.length === 0
    ? [timeless(line), exitCode]
    : [timeless(line), exitCode, codes.join(', ')];
}

/** Of what stands in tables: what AWS says of quotas and mappings is well. */
async function checkStack({ stores, runs }: Scene): Promise<Cell> {
  const { exitCode, document } = presentCheck({
    stack: checked({ name: 'rollcall-dev', isDeployed: true }),
    registryTable: checked('protected'),
    concurrency: checked({ total: 1000, unreserved: 1000 }),
    switchedOff: checked({ queues: [], schedules: [] }),
    freeze: checked(await stores.freezes.readFreeze()),
    standing: checked(await readStanding(stores)),
    nowMs: runs.clock.nowMs(),
  });
  const [first] = document['findings'] as readonly { readonly code: string }[];
  return [first?.code ?? '', exitCode ?? 0];
}

async function drawTable({ stores, runs }: Scene): Promise<Cell> {
  const overviews = new Overviews({ ...stores, clock: runs.clock });
  const overview = await overviews.read(runs.registration.id);
  assert.ok(overview !== undefined);
  return [timeless(renderTable(overview)[1] ?? ''), 0];
}

describe('what commands answer in the worst hour', () => {
  for (const [state, row] of Object.entries(TABLE)) {
    it(`is true while: ${state}`, async () => {
      const scene = await Scene.make(state as State);
      const said: Partial<Record<Command, Cell>> = {};
      for (const command of Object.keys(row) as Command[])
        said[command] = await ask(scene, command);
      assert.deepEqual(said, row);
    });
  }

  it('no answer is told as well while nobody acts', async () => {
    const scene = await Scene.make('stopped');
    for (const command of ['why', 'rollout status', 'cluster show'] as const) {
      const { stdout } = await scene.commands.run([...COMMANDS[command]]);
      assert.doesNotMatch(stdout, /being created|Done|Nothing is wrong/, command);
    }
  });

  it('a DaemonSet in a stage of a fleet names the fleet, and what that waits for', async () => {
    const scene = await Scene.make('held by a fleet');
    const run = await scene.commands.run([...COMMANDS['rollout status']]);
    assert.match(
      run.stdout,
      /^! Held by fleet system\/agents, stage first \(1 of 3\): waits for approval after stage first/m,
    );
  });

  it('a stop that runs have come after is past, whoever switched the functions on again', async () => {
    const scene = await Scene.make('stopped');
    await scene.runs.clock.advance(5 * MINUTE_MS);
    await scene.runs.settle();
    await scene.walk();
    await scene.commands.clock.advance(6 * MINUTE_MS);
    const run = await scene.commands.run([...COMMANDS['rollout status']]);
    assert.match(run.expectExit(0).stdout, /^a\/system\/agents: Done/);
  });
});

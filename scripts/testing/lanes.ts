/**
 * How many test files run at once: a run is a row of lanes, one after the other, each of parts side by side.
 *
 * Files that need npm alone are bound by the processor: as many at once as there are processors, and one more, since some
 * of them wait. What they test is mostly over in milliseconds, while a process takes a tenth of a second to begin and more to
 * load what is tested. So all files but those of {@link OWN} and {@link APART} share a process for each processor and one
 * more, as they leave nothing behind in it.
 * Files of a slow tier have directories and ports of their own, and wait most of their time. So three more of them run at
 * once than there are processors, and beside them those that take longest ({@link WAITING}). A file that states a bound in
 * seconds or bytes of the whole machine is in {@link ALONE}, with why.
 * It decides nothing about which files are run: `tier-files.ts` does.
 */
import path from 'node:path';

/** One `node --test`: its files, and how many of them at once; or all of them in its one process. */
export interface Part {
  readonly files: readonly string[];
  readonly atOnceMax: number;
  readonly process: 'own' | 'shared';
}

/** Parts that run side by side. */
export type Lane = readonly Part[];

/** Where a run takes place. */
export interface LaneSetting {
  /** Whether its tiers start clusters or containers. */
  readonly isSlow: boolean;
  readonly processorsCount: number;
}

const PROCESSORS_MIN = 2;

/** Files of slow tiers that many others would disturb: path from the root, and what they measure. */
export const ALONE: Readonly<Record<string, string>> = {
  'test/conformance/chaos/chaos.test.ts': 'settles within a minute (L1), five programs are killed',
  'test/conformance/differential/scenarios.test.ts': 'two control planes, and who is later on them',
  'test/conformance/rollouts/surge.test.ts': 'each step within 12 s',
  'test/conformance/scenarios/requests.nightly.test.ts':
    'a view behind a thousand joins says nothing',
  'test/conformance/scenarios/requests.test.ts': 'counts what a hundred joins cost',
  'test/conformance/watcher-memory/watcher-memory.nightly.test.ts':
    'memory, with a watch on 100,000 pods',
};

/**
 * Files and directories of slow tiers that mostly wait: for soaks, the life of pods, a Lease that runs out. Each row is played
 * from the start on beside those that compute, or the longest would end alone.
 */
export const WAITING: readonly (readonly string[])[] = [
  ['test/conformance/staged/takeover.test.ts', 'test/conformance/staged/takeover-alone.test.ts'],
  ['test/conformance/fleet/three-clusters.test.ts', 'test/conformance/staged/copilot.test.ts'],
  ['test/conformance/cli/answers.test.ts', 'test/conformance/recovery/'],
  ['test/conformance/rollouts/'],
];
/** Of each row. */
const WAITING_AT_ONCE = 2;
/** Beside them, more than there are processors: these wait, too, for control planes that start. */
const COMPUTING_MORE = 3;

/**
 * Of those alone: both mostly wait, and grant more time where the machine is slow, so one beside the other is well, and others
 * that mostly wait beside both. The comparison of controllers is not one of them: beside both, at a load of 21 to 26,
 * Rollcall was later there than it may be.
 */
const ALONE_TOGETHER: ReadonlySet<string> = new Set([
  'test/conformance/chaos/chaos.test.ts',
  'test/conformance/rollouts/surge.test.ts',
]);
/** Files and directories that are played beside those two: they wait, most for a person's pace, and need little of a processor. */
export const BESIDE_ALONE: readonly string[] = [
  'test/conformance/handover/',
  'test/conformance/kubectl/fleet-page.test.ts',
  'test/conformance/kubectl/rollouts-page.test.ts',
  'test/conformance/plans/',
  'test/conformance/scenarios/nodes.test.ts',
  'test/conformance/watcher-memory/replicas.test.ts',
];
const BESIDE_ALONE_AT_ONCE = 5;

/** Directories whose test files have processes of their own: they start programs, wait for clusters or compute for long. */
export const OWN: readonly string[] = [
  'test/integration/cli/',
  'test/integration/doctor/',
  'test/integration/examples/',
  'test/integration/start/',
  'test/integration/watcher/',
  'test/integration/why/',
  'test/security/',
  'test/unit/mutants/',
];

/** Files elsewhere that need a process to themselves: path from the root, and what they change in it. */
export const APART: Readonly<Record<string, string>> = {
  'test/unit/adapters/kubernetes/settings/watch-settings.test.ts': 'hooks of the whole file',
  'test/unit/adapters/system/clock-and-random.test.ts': 'starts programs',
  'test/unit/adapters/system/metrics.test.ts': 'the environment and the console',
  'test/unit/app/fleet/notify/fleet-notifier.test.ts': 'hooks of the whole file',
  'test/unit/cli/fleet/fleet-commands.test.ts': 'hooks of the whole file',
  'test/unit/cli/fleet/rights-command.test.ts': 'hooks of the whole file',
  'test/unit/cli/fleet/server-check.test.ts': 'hooks of the whole file',
  'test/unit/cli/stack/stop-and-resume.test.ts': 'the environment',
  'test/unit/cli/start/options.test.ts': 'writing to stderr',
  'test/unit/docs/ci.test.ts': 'starts programs',
  'test/integration/adapters/aws/silent-servers.test.ts': 'the environment',
  'test/integration/adapters/kubernetes/changed-authority.test.ts': 'hooks of the whole file',
  'test/integration/adapters/kubernetes/watch/watch-source.test.ts': 'hooks of the whole file',
  'test/integration/local-aws/batch-statements.test.ts': 'hooks of the whole file',
  'test/integration/local-aws/restart.test.ts': 'starts programs',
  'test/unit/functions/deployed-composition.test.ts': 'the environment',
  'test/unit/functions/deployed-stack.test.ts': 'the environment and the console',
  'test/unit/functions/middleware.test.ts': 'timers',
  'test/unit/scripts/cli-plugins.test.ts': 'starts programs',
  'test/unit/scripts/deploy/options.test.ts': 'writing to stderr',
  'test/unit/scripts/function-plugins.test.ts': 'starts programs',
  'test/unit/scripts/launch.test.ts': 'starts programs',
  'test/unit/scripts/run-lanes.test.ts': 'starts programs',
  'test/unit/scripts/test-runner.test.ts': 'starts programs',
  'test/simulation/program.test.ts': 'starts programs',
  'packages/local-cluster/test/unit/discovery/discovery.test.ts': 'hooks of the whole file',
  'packages/local-aws/test/unit/deployment/process-note.test.ts': 'starts programs',
  'packages/local-cluster/test/unit/resources/stored.test.ts': 'hooks of the whole file',
  'test/unit/cli/reach/aws-profiles.test.ts': 'hooks of the whole file',
  'packages/local-cluster/test/unit/server/https-server.test.ts': 'hooks of the whole file',
  'packages/local-cluster/test/unit/server/watches.test.ts': 'hooks of the whole file',
  'packages/local-cluster/test/unit/store/journal.test.ts': 'hooks of the whole file',
};

/**
 * Files of a quick tier that take longest: those of a row one after the other from the start on, or the last of them would
 * end alone. The first row computes; the others mostly wait for clusters, so they run beside it and beside each other.
 */
export const LONG: readonly (readonly string[])[] = [
  ['test/simulation/random.test.ts', 'test/security/template.test.ts'],
  ['test/integration/start/start.test.ts', 'test/integration/cli/rollout.test.ts'],
  ['test/integration/cli/rollcall.test.ts', 'test/integration/start/leaving.test.ts'],
];

/** Whether a test file, as a path from the root, shares its process with others; one of elsewhere does not. */
export function isSharing(file: string): boolean {
  if (path.isAbsolute(file) || APART[file] !== undefined) return false;
  return !OWN.some((directory) => file.startsWith(directory));
}

/** The lanes of a run, none without files. */
export function lanesOf(
  files: readonly string[],
  { isSlow, processorsCount }: LaneSetting,
): readonly Lane[] {
  const processors = Math.max(processorsCount, PROCESSORS_MIN);
  const lanes = isSlow ? slowLanes(files, processors) : quickLanes(files, processors);
  return lanes
    .map((lane) => lane.filter((part) => part.files.length > 0))
    .filter((lane) => lane.length > 0);
}

function slowLanes(files: readonly string[], processors: number): readonly Lane[] {
  const isOf = (places: readonly string[]) => (file: string) =>
    places.some((place) => file.startsWith(place));
  const isAlone = (file: string): boolean => ALONE[file] !== undefined;
  const isLater = (file: string): boolean => isAlone(file) || isOf(BESIDE_ALONE)(file);
  const alone = files.filter(isAlone);
  const first = files.filter((file) => !isLater(file));
  const own = (these: readonly string[], atOnceMax: number): Part => {
    return { files: these, atOnceMax, process: 'own' };
  };
  return [
    [
      ...WAITING.map((row) => own(first.filter(isOf(row)), WAITING_AT_ONCE)),
      own(
        first.filter((file) => !isOf(WAITING.flat())(file)),
        processors + COMPUTING_MORE,
      ),
    ],
    [
      own(
        files.filter((file) => !isAlone(file) && isLater(file)),
        BESIDE_ALONE_AT_ONCE,
      ),
      own(
        alone.filter((file) => ALONE_TOGETHER.has(file)),
        ALONE_TOGETHER.size,
      ),
    ],
    [
      own(
        alone.filter((file) => !ALONE_TOGETHER.has(file)),
        1,
      ),
    ],
  ];
}

function quickLanes(files: readonly string[], processors: number): readonly Lane[] {
  const isLong = (file: string): boolean => LONG.some((row) => row.includes(file));
  const sharing = files.filter((file) => isSharing(file) && !isLong(file));
  const others = files.filter((file) => !isSharing(file) && !isLong(file));
  return [
    [
      // By turns, so that directories of long tests are divided, too; one more than processors, or one of them would end alone.
      ...Array.from({ length: processors + 1 }, (_, turn): Part => ({
        files: sharing.filter((_file, index) => index % (processors + 1) === turn),
        atOnceMax: 1,
        process: 'shared',
      })),
      ...LONG.map((row): Part => ({
        files: row.filter((file) => files.includes(file)),
        atOnceMax: 1,
        process: 'own',
      })),
      { files: others, atOnceMax: processors + 1, process: 'own' },
    ],
  ];
}

/**
 * How many test files run at once: a run is a row of lanes, one after the other, each with files side by side.
 *
 * Files that need npm alone are bound by the processor: as many at once as there are processors, and one more, since some
 * of them wait. Files of a slow tier mostly wait for a control plane, so several share the machine, in directories and
 * on ports of their own; what states a bound in seconds or bytes of the whole machine is in {@link ALONE}, with why.
 * It decides nothing about which files are run: `tier-files.ts` does.
 */

/** Some files of a run, and how many of them at once. */
export interface Lane {
  readonly files: readonly string[];
  readonly atOnceMax: number;
}

/** Where a run takes place. */
export interface LaneSetting {
  /** Whether its tiers start clusters or containers. */
  readonly isSlow: boolean;
  readonly processorsCount: number;
}

const PROCESSORS_MIN = 2;

/** Files of slow tiers that others would disturb: path from the root, and what they measure. */
export const ALONE: Readonly<Record<string, string>> = {
  'test/conformance/chaos/chaos.test.ts': 'settles within a minute (L1), five programs are killed',
  'test/conformance/differential/scenarios.test.ts': 'two control planes, and who is later on them',
  'test/conformance/rollouts/surge.test.ts': 'each step within 12 s',
  'test/conformance/scenarios/requests.nightly.test.ts':
    'a view behind a thousand joins says nothing',
  'test/conformance/scenarios/requests.test.ts': 'counts what a hundred joins cost',
  'test/conformance/watcher-memory/watcher-memory.test.ts': 'memory, with a watch on 10,000 pods',
};

/** The lanes of a run, none without files. */
export function lanesOf(
  files: readonly string[],
  { isSlow, processorsCount }: LaneSetting,
): readonly Lane[] {
  const processors = Math.max(processorsCount, PROCESSORS_MIN);
  if (!isSlow) return files.length === 0 ? [] : [{ files, atOnceMax: processors + 1 }];
  const lanes = [
    { files: files.filter((file) => ALONE[file] === undefined), atOnceMax: processors + 1 },
    { files: files.filter((file) => ALONE[file] !== undefined), atOnceMax: 1 },
  ];
  return lanes.filter((lane) => lane.files.length > 0);
}

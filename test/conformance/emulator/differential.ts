/**
 * Compares two servers over many episodes and reports what the published list does not allow.
 */
import { ALLOWED_MAX, findAllowed, type AllowedDifference } from './allowed.ts';
import { classOf, type Difference } from './compare.ts';
import { generateEpisode } from './generate/generate-episode.ts';
import { runEpisode, type Pair } from './run-episode.ts';
import type { ComparedServer } from './server.ts';
import type { Step } from './step.ts';

interface ShrinkRequest {
  readonly servers: Pair<ComparedServer>;
  readonly difference: Difference;
  /** The episode's steps under another prefix. */
  readonly stepsFor: (prefix: string) => readonly Step[];
}

const TRIALS_MAX = 60;
let trials = 0;

/** Returns the steps that are left; all of them when the difference does not show again. */
async function shrinkEpisode(request: ShrinkRequest): Promise<readonly Step[]> {
  const { difference, stepsFor } = request;
  const goal = classOf(difference);
  const isShownBy = async (ids: ReadonlySet<number>): Promise<boolean> => {
    trials += 1;
    const steps = stepsFor(`t${trials}`).filter((step) => ids.has(step.id));
    const { differences } = await runEpisode(request.servers, steps);
    return differences.some((one) => one.step.id === difference.step.id && classOf(one) === goal);
  };
  const all = stepsFor('t');
  // Watches are read at the end: what comes after them counts too.
  const last = difference.step.isWatch === true ? all.length : difference.step.id;
  let kept = all.map((step) => step.id).filter((id) => id <= last);
  const trialsAtStart = trials;
  for (
    let size = Math.ceil(kept.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let start = 0; start < kept.length;) {
      const part = new Set(kept.slice(start, start + size));
      const rest = kept.filter((id) => !part.has(id) || id === difference.step.id);
      const isTried = rest.length < kept.length && trials - trialsAtStart < TRIALS_MAX;
      if (isTried && (await isShownBy(new Set(rest)))) kept = rest;
      else start += size;
    }
  }
  const ids = new Set(kept);
  return all.filter((step) => ids.has(step.id));
}

export interface DifferentialOptions {
  readonly servers: Pair<ComparedServer>;
  readonly seed: number;
  /** Begins every name of this comparison. */
  readonly prefix: string;
  /** Requests in all. */
  readonly stepsCount: number;
  /** Play only this episode. */
  readonly episode?: number;
  /** Of that episode, play only these steps. */
  readonly keep?: ReadonlySet<number>;
  readonly allowed: readonly AllowedDifference[];
}

export interface DifferentialReport {
  readonly stepsPlayed: number;
  /** One text for each class of differences that is not allowed: what, how often, how to replay it. */
  readonly unlisted: readonly string[];
  /** Entries of the list that did not occur. */
  readonly unused: readonly AllowedDifference[];
  readonly allowedCount: number;
}

const EPISODE_STEPS = 60;
const REPLAYS_MAX = 3;
/** More are named by their number: the first ones are to be understood first. */
const CLASSES_MAX = 12;

interface Found {
  readonly difference: Difference;
  readonly episode: number;
  count: number;
}

/** Runs the comparison. */
export async function compareServers(options: DifferentialOptions): Promise<DifferentialReport> {
  const { servers, seed, prefix, allowed, keep } = options;
  const used = new Set<AllowedDifference>();
  const classes = new Map<string, Found>();
  let stepsPlayed = 0;
  let allowedCount = 0;
  const first = options.episode ?? 0;
  for (let episode = first; stepsPlayed < options.stepsCount; episode += 1) {
    const steps = episodeSteps({ seed, episode, prefix: `${prefix}${episode}` });
    const played = keep === undefined ? steps : steps.filter((step) => keep.has(step.id));
    const result = await runEpisode(servers, played);
    stepsPlayed += result.stepsPlayed;
    for (const difference of result.differences) {
      const entry = findAllowed(allowed, difference);
      if (entry === undefined) note(classes, { difference, episode, count: 1 });
      else {
        used.add(entry);
        allowedCount += 1;
      }
    }
    if (options.episode !== undefined) break;
  }
  const unlisted: string[] = [];
  const mostFrequent = [...classes.values()].sort((one, other) => other.count - one.count);
  for (const [index, found] of mostFrequent.slice(0, CLASSES_MAX).entries()) {
    unlisted.push(await describeFound(options, found, index < REPLAYS_MAX));
  }
  if (mostFrequent.length > CLASSES_MAX) {
    unlisted.push(`and ${mostFrequent.length - CLASSES_MAX} more classes`);
  }
  const unused = allowed.filter((one) => !used.has(one));
  return { stepsPlayed, unlisted, unused, allowedCount };
}

/** What is wrong with the published list itself; empty if nothing. */
export function faultsOfList(allowed: readonly AllowedDifference[]): string[] {
  const faults: string[] = [];
  if (allowed.length > ALLOWED_MAX)
    faults.push(`${allowed.length} entries, at most ${ALLOWED_MAX}`);
  for (const { verb, resource, field, reason } of allowed) {
    const name = `${verb} × ${resource} × ${field}`;
    if (field === 'status' || field === '*') faults.push(`${name}: a status code is never allowed`);
    if (reason === '') faults.push(`${name}: no reason`);
  }
  return faults;
}

function episodeSteps(request: {
  readonly seed: number;
  readonly episode: number;
  readonly prefix: string;
}): Step[] {
  const { seed, episode: index, prefix } = request;
  return generateEpisode({ seed, index, prefix, stepsCount: EPISODE_STEPS });
}

function note(classes: Map<string, Found>, found: Found): void {
  const name = classOf(found.difference);
  const known = classes.get(name);
  if (known) known.count += 1;
  else classes.set(name, found);
}

async function describeFound(
  { servers, seed }: DifferentialOptions,
  { difference, episode, count }: Found,
  isShrunk: boolean,
): Promise<string> {
  const { step, example } = difference;
  const lines = [
    `${classOf(difference)} (${count} times)`,
    `  ${step.method} ${step.path} · ${step.note}`,
    `  at ${example.path}: ${servers.left.name} ${cut(example.left)}, ${servers.right.name} ${cut(example.right)}`,
  ];
  const replay = `EMULATOR_SEED=${seed} EMULATOR_EPISODE=${episode}`;
  if (!isShrunk) return [...lines, `  replay: ${replay} ${COMMAND}`].join('\n');
  const steps = await shrinkEpisode({
    servers,
    difference,
    stepsFor: (prefix) => episodeSteps({ seed, episode, prefix }),
  });
  const kept = steps.map((one) => one.id).join(',');
  return [
    ...lines,
    `  in ${steps.length} steps:`,
    ...steps.map((one) => `    #${one.id} ${one.method} ${one.path} · ${one.note}`),
    `  replay: ${replay} EMULATOR_KEEP=${kept} ${COMMAND}`,
  ].join('\n');
}

const COMMAND = 'npm run test:conformance -- test/conformance/emulator/differential.test.ts';

function cut(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}

// npm run sim: what it exits with, and how it makes a failure small.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { drawPlan } from '../support/simulation/draw-plan.ts';
import { drawHunt } from '../support/simulation/hunts.ts';
import { keepPlan, readKept } from '../support/simulation/kept-plan.ts';
import type { SimulationPlan } from '../support/simulation/plan.ts';
import type { PlayBroken, PlayResult } from '../support/simulation/play-plan.ts';
import { shrinkPlan } from '../support/simulation/shrink-plan.ts';

const PROGRAM = path.resolve(import.meta.dirname, 'program/run.ts');

function run(
  ...parameters: readonly string[]
): Promise<{ code: unknown; text: string; stdout: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...parameters], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, text: stdout + stderr, stdout });
    });
  });
}

test('it plays seeds twice and sums up as JSON (M2, row 17)', async () => {
  // How far it is goes to standard error, on a machine on which it takes that long.
  const { code, text, stdout } = await run('--seeds', '2', '--steps', '3', '--twice', '--json');
  assert.equal(code, 0, text);
  const summary = JSON.parse(stdout) as {
    readonly seeds: number;
    readonly broken: readonly unknown[];
  };
  assert.deepEqual([summary.seeds, summary.broken], [2, []]);
});

test('a profile that nobody knows is wrong usage', async () => {
  const { code, text } = await run('--profile', 'nonsense');
  assert.equal(code, 2);
  assert.match(text, /combined-chaos/);
});

test('a kept plan that breaks a promise is a failure, with the command that plays it again (M3)', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-kept-'));
  try {
    const drawn = drawPlan({ seed: 1, profile: 'baseline', stepsCount: 1 });
    const setting = { ...drawn.setting, pageLimit: 500 };
    // Lists of one page are never continued: what is demanded cannot happen (M1).
    const plan: SimulationPlan = { ...drawn, setting, faults: { 'list-expired': { rate: 0.5 } } };
    const file = keepPlan({ ...brokenBy(plan), rule: 'M1' }, directory);
    const { code, text } = await run('--replay', file);
    assert.equal(code, 1, text);
    assert.ok(text.includes(`npm run sim -- --replay ${file}`), text);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('the plan of a failure is kept in the directory that is told, as --replay reads it (M3)', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-kept-'));
  try {
    const plan = drawHunt('freezes', 3);
    const file = keepPlan({ ...brokenBy(plan), rule: 'S1' }, path.join(directory, 'new'));
    assert.equal(path.dirname(file), path.join(directory, 'new'));
    const { broke, plan: kept } = readKept(file);
    assert.equal(broke.rule, 'S1');
    assert.deepEqual(kept, { ...plan, demands: Object.keys(plan.faults) });
  } finally {
    rmSync(directory, { recursive: true });
  }
});

function brokenBy(plan: SimulationPlan): PlayBroken {
  return {
    kind: 'broken',
    rule: 'S1',
    finding: 'two pods',
    during: 'step 20',
    atMs: 1,
    plan,
    hash: '',
    virtualMs: 1,
    happened: new Map(),
    firedAt: new Map([
      ['kill', [1, 5, 9, 12]],
      ['copy', [2, 3]],
    ]),
    judged: 0,
    trace: [],
  };
}

test('a plan shrinks to the steps and firings without which nothing breaks', async () => {
  const plan = drawPlan({ seed: 2, profile: 'combined-chaos', stepsCount: 30 });
  const needed = plan.steps[17]?.dice;
  const play = (tried: SimulationPlan): Promise<PlayResult> => {
    const kill = tried.faults.kill;
    const hasFiring = kill !== undefined && 'at' in kill && kill.at.includes(5);
    const isBroken = hasFiring && tried.steps.some(({ dice }) => dice === needed);
    const facts = { ...broken, plan: tried };
    return Promise.resolve(isBroken ? facts : { ...facts, kind: 'held' });
  };
  const broken = brokenBy(plan);
  const smallest = await shrinkPlan(broken, { isOver: () => false, play });
  assert.deepEqual(
    smallest.plan.steps.map(({ dice }) => dice),
    [needed],
  );
  assert.deepEqual(smallest.plan.faults, { kill: { at: [5] } });
  assert.equal(smallest.plan.setting.requestMsMax, 2);
});

test('a plan that shrinks keeps what its DaemonSets are: another world would break by itself', async () => {
  const plan = drawHunt('wrong-clocks', 101);
  const play = (tried: SimulationPlan): Promise<PlayResult> =>
    Promise.resolve({ ...broken, plan: tried });
  const broken = brokenBy(plan);
  const { setting } = (await shrinkPlan(broken, { isOver: () => false, play })).plan;
  const { policy, spec, isGuarded } = plan.setting;
  assert.notEqual(policy, undefined);
  assert.deepEqual([setting.policy, setting.spec, setting.isGuarded], [policy, spec, isGuarded]);
  assert.equal(setting.copyMsMax, undefined);
});

/**
 * Import directions: dependency-cruiser's rules hold, and it really looked at modules.
 *
 * With a compiler that it cannot use, dependency-cruiser cruises nothing and is content; so the number of modules is
 * checked against the number of files. The rules and their reasons are in .dependency-cruiser.mjs, without exceptions.
 */
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { runPackageScript } from '../lib/run-tool.ts';
import type { Check, CheckResult } from './check.ts';

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string; readonly severity: string };
  readonly cycle?: readonly { readonly name: string }[];
}

interface CruiseOutput {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: { readonly violations: readonly Violation[] };
}

const folders = ['src', 'functions', 'packages', 'scripts', 'test'];

function describeViolation(violation: Violation): string {
  const cycle = violation.cycle?.map((step) => step.name).join(' -> ');
  return `${violation.rule.name}: ${violation.from} -> ${cycle ?? violation.to}`;
}

function findUnseenFiles(output: CruiseOutput, directory: string): string[] {
  const seen = new Set(output.modules.map((module) => module.source));
  return folders
    .flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: directory }))
    .filter((file) => !file.endsWith('.d.ts') && !seen.has(file));
}

function judge(output: CruiseOutput, directory: string): CheckResult {
  const lines = output.summary.violations.map(describeViolation);
  lines.push(...findUnseenFiles(output, directory).map((file) => `not cruised: ${file}`));
  if (output.modules.length === 0) lines.push('no module was cruised');
  return { passed: lines.length === 0, report: lines.map((line) => `${line}\n`).join('') };
}

/** The check of import directions. */
export const boundariesCheck: Check = {
  name: 'boundaries',
  run: async (directory) => {
    const present = folders.filter((folder) => existsSync(path.join(directory, folder)));
    const tool = 'dependency-cruiser/bin/dependency-cruiser.mjs';
    const parameters = ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', ...present];
    const result = await runPackageScript(tool, parameters, directory);
    if (!result.stdout.startsWith('{')) return { passed: false, report: result.stderr };
    return judge(JSON.parse(result.stdout) as CruiseOutput, directory);
  },
};

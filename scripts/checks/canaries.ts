/**
 * Canaries: every static check must fail on a violation planted for it, and must not complain about clean code.
 *
 * A check that has quietly stopped looking is worse than none. Each canary is a small project in a temporary
 * directory, with this repository's own configuration and node_modules, some clean modules, and the violations of
 * scripts/checks/canary-*.ts. Every planted file must be named in the report together with its expected finding, and
 * no clean file may be. The repository itself is not touched.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { linkModules } from '../lib/link-modules.ts';
import { repositoryRoot } from '../lib/run-tool.ts';
import { boundariesCheck } from './boundaries.ts';
import { boundariesCanaries } from './canary-boundaries.ts';
import { lintCanaries } from './canary-lint.ts';
import { projectCanaries } from './canary-project.ts';
import { proseCanaries } from './canary-prose.ts';
import { tidyCanaries } from './canary-tidy.ts';
import type { Canary, Check } from './check.ts';
import { proseCheck } from './prose.ts';
import { tidyCheck } from './tidy.ts';
import { toolChecks } from './tools.ts';

const checks: readonly Check[] = [...toolChecks, boundariesCheck, tidyCheck, proseCheck];

const canaries: readonly Canary[] = [
  ...projectCanaries,
  ...lintCanaries,
  ...boundariesCanaries,
  ...tidyCanaries,
  ...proseCanaries,
];

const configurations = [
  '.dependency-cruiser.mjs',
  '.prettierignore',
  '.prettierrc.json',
  'eslint.config.js',
  'knip.json',
  'package.json',
  'packages/base/package.json',
  'packages/local-aws/package.json',
  'packages/local-cluster/package.json',
  'tsconfig.base.json',
  'tsconfig.json',
];

const layers = [
  ...['core', 'ports', 'adapters', 'app', 'watcher', 'engine', 'cli'].map((name) => `src/${name}`),
  ...['base', 'local-cluster', 'local-aws'].flatMap((name) => [
    `packages/${name}/src`,
    `packages/${name}/test`,
  ]),
  'functions',
  'scripts',
  'test',
];

const cleanHeader =
  '/**\n * A clean module of a canary.\n * It imports,\n * and is imported.\n */\n';

/** Clean modules, linked to each other so that none is an orphan or dead. */
const cleanFiles: Readonly<Record<string, string>> = {
  'src/core/clean.ts': `${cleanHeader}/** The answer. */\nexport const answer = 42;\n`,
  'functions/clean/handler.ts':
    `${cleanHeader}import { answer } from '../../src/core/clean.ts';\n\n` +
    '/** Answers. */\nexport function handler(): number {\n  return answer;\n}\n',
};

function writeFiles(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function prepare(canary: Canary): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-canary-'));
  linkModules(repositoryRoot, directory);
  const copied = [...configurations, ...layers.map((layer) => `${layer}/tsconfig.json`)];
  for (const name of copied) {
    cpSync(path.join(repositoryRoot, name), path.join(directory, name), { recursive: true });
  }
  writeFiles(directory, cleanFiles);
  writeFiles(directory, canary.files);
  return directory;
}

/** Says what is wrong with the check, or nothing if it found exactly what was planted. */
async function tryCanary(canary: Canary): Promise<string[]> {
  const check = checks.find(({ name }) => name === canary.check);
  if (check === undefined) return [`there is no check called ${canary.check}`];
  const directory = prepare(canary);
  try {
    const { passed, report } = await check.run(directory);
    const plain = report.replace(/\u001b\[[0-9;]*m/g, '');
    const problems = canary.expected
      .filter((finding) => !finding.test(plain))
      .map((finding) => `the check ${canary.check} did not report ${String(finding)}`);
    if (passed) problems.push(`the check ${canary.check} passed over planted violations`);
    if (canary.isCleanSpared !== false && /\bclean\b/.test(plain)) {
      problems.push(`the check ${canary.check} complained about clean code`);
    }
    return problems.length === 0 ? [] : [...problems, `its report was:\n${plain}`];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function findUntried(): string[] {
  return checks
    .filter(({ name }) => !canaries.some((canary) => canary.check === name))
    .map(({ name }) => `the check ${name} has no canary`);
}

/** The check of the checks. */
export const canariesCheck: Check = {
  name: 'canaries',
  run: async () => {
    const problems = findUntried();
    for (const canary of canaries) problems.push(...(await tryCanary(canary)));
    return { passed: problems.length === 0, report: problems.map((line) => `${line}\n`).join('') };
  },
};

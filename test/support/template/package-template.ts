/**
 * Runs `osls package` on a copy of what it reads, with nothing that it could reach: no credentials, no network.
 *
 * The bundles are stand-ins, because the template does not depend on them. Nothing in the repository is written but the
 * compiled schema of osls.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleFileOf, findFunctionNames } from '../../../scripts/build/bundles.ts';
import { repositoryRoot, runTool } from '../../../scripts/lib/run-tool.ts';
import { extractReleaseBefore } from '../release-before.ts';
import type { Template } from './template.ts';

const READ_BY_OSLS = ['serverless.yml', 'infra', 'package.json', 'scripts/osls'];
/** osls compiles its schema of a serverless.yml, which is most of its work: kept here by the schema's hash. */
const SCHEMA_CACHE = path.join(repositoryRoot, 'node_modules/.cache/osls');
/** A port on which nobody listens: whatever looks for a network fails at once. */
const NOWHERE = 'http://127.0.0.1:9';

/** The template for a stage, with parameters as `npm run package -- --param` gives them. */
export function packageTemplate(
  stage: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Template> {
  return packageIn({ stage, parameters }, (directory) => {
    for (const name of [...READ_BY_OSLS, 'functions']) {
      cpSync(path.join(repositoryRoot, name), path.join(directory, name), { recursive: true });
    }
  });
}

/** The template of the release before, packaged from its own sources. Throws where git history does not have it. */
export function packageTemplateBefore(stage: string): Promise<Template> {
  return packageIn({ stage, parameters: {} }, (directory) => {
    extractReleaseBefore([...READ_BY_OSLS, 'functions'], directory);
  });
}

async function packageIn(
  request: { readonly stage: string; readonly parameters: Readonly<Record<string, string>> },
  fill: (directory: string) => void,
): Promise<Template> {
  const { stage, parameters } = request;
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-template-'));
  try {
    fill(directory);
    for (const name of await findFunctionNames(directory)) {
      const file = path.join(directory, bundleFileOf(name));
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, 'export const handler = () => undefined;\n');
    }
    const osls = path.join(repositoryRoot, 'node_modules/osls/bin/serverless.js');
    const given = Object.entries(parameters).map(([name, value]) => `--param=${name}=${value}`);
    const result = await runTool({
      program: process.execPath,
      parameters: [osls, 'package', '--stage', stage, ...given],
      directory,
      environment: isolatedEnvironment(directory),
    });
    assert.equal(result.exitCode, 0, result.stdout + result.stderr);
    const file = path.join(directory, '.serverless/cloudformation-template-update-stack.json');
    return JSON.parse(readFileSync(file, 'utf8')) as Template;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function isolatedEnvironment(home: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    HOME: home,
    SLS_SCHEMA_CACHE_BASE_DIR: SCHEMA_CACHE,
    HTTP_PROXY: NOWHERE,
    HTTPS_PROXY: NOWHERE,
    AWS_ENDPOINT_URL: NOWHERE,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

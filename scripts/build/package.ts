/**
 * `npm run package -- [--stage S] [--region R] [--param="name=value"] …`: everything that is delivered, from sources
 * and node_modules alone: no network, no credentials.
 *
 * dist/ holds the bundles of the functions, the watcher, the command line and its page; .serverless/ the template and a zip for
 * each function, as `npx osls deploy --package .serverless` with the same arguments deploys them. Stops at the first step
 * that fails, and a bundle over its budget is a failure (build/bundles.ts). Deploys nothing.
 */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot, runPackageScript, runTool, type ToolResult } from '../lib/run-tool.ts';

const PACKAGE_DIRECTORY = '.serverless';
const BYTES_PER_KIB = 1024;

interface Step {
  readonly name: string;
  readonly run: () => Promise<ToolResult>;
}

function build(what: string): Step {
  const parameters = [`scripts/build/build-${what}.ts`];
  const run = (): Promise<ToolResult> =>
    runTool({ program: process.execPath, parameters, directory: repositoryRoot });
  return { name: `the build of the ${what}`, run };
}

const steps: readonly Step[] = [
  build('functions'),
  build('watcher'),
  build('cli'),
  build('page'),
  {
    name: 'osls package',
    run: () => {
      const parameters = ['package', ...process.argv.slice(2)];
      return runPackageScript('osls/bin/serverless.js', parameters, repositoryRoot);
    },
  },
];

/** True when the step succeeded; what it said is passed on either way. */
async function finish({ name, run }: Step): Promise<boolean> {
  const result = await run();
  process.stdout.write(result.stdout);
  process.stderr.write(result.stderr);
  if (result.exitCode === 0) return true;
  console.error(`rollcall: ${name} failed`);
  process.exitCode = 1;
  return false;
}

function sayWhatThereIs(): void {
  const directory = path.join(repositoryRoot, PACKAGE_DIRECTORY);
  for (const name of readdirSync(directory).sort()) {
    const kib = Math.ceil(statSync(path.join(directory, name)).size / BYTES_PER_KIB);
    process.stdout.write(`${PACKAGE_DIRECTORY}/${name}: ${String(kib)} KB\n`);
  }
}

let isComplete = true;
for (const step of steps) {
  isComplete = await finish(step);
  if (!isComplete) break;
}
if (isComplete) sayWhatThereIs();

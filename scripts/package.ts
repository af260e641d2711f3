/**
 * `npm run package -- [--stage S] [--region R]`: bundles the functions and packages the service, without a network.
 *
 * The result is .serverless/: the templates and one zip with all functions. Nothing is deployed and no credentials
 * are asked for; `npx osls deploy --package .serverless` takes it from there. Stops at the first step that fails.
 */
import { repositoryRoot, runPackageScript, runTool, type ToolResult } from './lib/run-tool.ts';

function finishStep(name: string, result: ToolResult): boolean {
  process.stdout.write(result.stdout);
  process.stderr.write(result.stderr);
  if (result.exitCode === 0) return true;
  console.error(`rollcall: ${name} failed`);
  process.exitCode = 1;
  return false;
}

const built = await runTool({
  program: process.execPath,
  parameters: ['scripts/build-functions.ts'],
  directory: repositoryRoot,
});
if (finishStep('the build of the functions', built)) {
  const parameters = ['package', ...process.argv.slice(2)];
  const packaged = await runPackageScript('osls/bin/serverless.js', parameters, repositoryRoot);
  finishStep('osls package', packaged);
}

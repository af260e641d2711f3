/**
 * `node scripts/launch.mjs scripts/recreate.ts LOGICAL-ID --account ID --region REGION [--partition P] [--template FILE]`:
 * prints the commands that make a deleted queue or table of the deployment again (docs/operations.md).
 *
 * Reads the template that `npm run package` wrote; asks AWS nothing and changes nothing. Exit code 2 for wrong usage.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { shellWord } from '../src/core/status/shell-word.ts';
import { repositoryRoot } from './lib/run-tool.ts';
import { NotRecreatableError, recreateCommands } from './recreate/recreate-commands.ts';
import type { CommandLine, PackagedTemplate } from './recreate/recreate-commands.ts';

const PACKAGED = path.join(repositoryRoot, '.serverless/cloudformation-template-update-stack.json');
const EXIT_USAGE = 2;
const PLAIN = /^[\w@%+=:,./-]+$/;

function shown(line: CommandLine): string {
  return line.map((word) => (PLAIN.test(word) ? word : shellWord(word))).join(' ');
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    account: { type: 'string' },
    region: { type: 'string' },
    partition: { type: 'string', default: 'aws' },
    template: { type: 'string', default: PACKAGED },
  },
});
const [logicalId] = positionals;
const { account, region, partition, template } = values;
if (logicalId === undefined || account === undefined || region === undefined) {
  console.error(
    'usage: recreate.ts LOGICAL-ID --account ID --region REGION [--partition P] [--template FILE]',
  );
  process.exitCode = EXIT_USAGE;
} else {
  try {
    const packaged = JSON.parse(readFileSync(template, 'utf8')) as PackagedTemplate;
    const lines = recreateCommands(packaged, logicalId, { account, region, partition });
    process.stdout.write(`${lines.map(shown).join('\n')}\n`);
  } catch (error) {
    if (!(error instanceof NotRecreatableError)) throw error;
    console.error(`rollcall: ${error.message}`);
    process.exitCode = EXIT_USAGE;
  }
}

/**
 * Every `aws` command of a page is one that the AWS CLI takes: it knows the operation and each option, and gets as far as to
 * ask AWS. There is no AWS at the address that it is given, so nothing is done, and what AWS would answer is not
 * known.
 */
import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { repositoryRoot, runTool } from '../../../scripts/lib/run-tool.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { ensureLinters } from './install.ts';

const PAGES = ['README.md', ...globSync('docs/*.md', { cwd: repositoryRoot })];
/** It asked, or it looked for a file of yours that is not there. */
const UNDERSTOOD = /Could not connect to the endpoint URL|does not exist|No such file or directory/;
/** Any name that a page takes for a profile. */
const PROFILE = /--profile (\S+)/g;

const KEYS = 'aws_access_key_id = none\naws_secret_access_key = none\n';
/** What a page leaves to its reader, and the CLI looks at. */
const ARN = 'arn:aws:dynamodb:eu-west-1:111122223333:table/a/backup/1';

/** Commands of the blocks of a page, each on one line. */
function awsCommands(page: string): readonly string[] {
  const text = readFileSync(path.join(repositoryRoot, page), 'utf8');
  const blocks = [...text.matchAll(/^ *```sh\n([^]*?)^ *```/gm)].map(([, body = '']) => body);
  return blocks
    .flatMap((body) => body.replaceAll(/\\\n\s*/g, ' ').split('\n'))
    .map((line) => line.replace(/ +# .*$/, '').trim())
    .filter((line) => line.startsWith('aws '));
}

describe('the AWS CLI', { skip: skipWithoutTools([TOOLS.python, TOOLS.go]) }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-aws-'));
  let folder: string;
  before(async () => {
    folder = path.dirname((await ensureLinters()).aws);
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  /** What it says of a command. */
  async function tell(command: string): Promise<string> {
    const profiles = [...command.matchAll(PROFILE)].map(
      ([, name = '']) => `[profile ${name}]\n${KEYS}`,
    );
    const config = path.join(mkdtempSync(path.join(directory, 'one-')), 'config');
    writeFileSync(config, profiles.join(''));
    const environment = {
      PATH: `${folder}:${process.env['PATH'] ?? ''}`,
      HOME: directory,
      AWS_CONFIG_FILE: config,
      AWS_ACCESS_KEY_ID: 'none',
      AWS_SECRET_ACCESS_KEY: 'none',
      AWS_DEFAULT_REGION: 'eu-west-1',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
      AWS_MAX_ATTEMPTS: '1',
    };
    const parameters = ['-c', command.replaceAll(/\bARN\b/g, ARN)];
    const { stdout, stderr } = await runTool({
      ...{ program: 'sh', parameters, environment },
      directory: repositoryRoot,
    });
    return `${stdout}${stderr}`;
  }

  it('finds a planted option and operation', async () => {
    for (const wrong of [
      'aws iam get-user --user-names a',
      'aws dynamodb restore-table-from-backup --target-table-name abc',
      'aws sqs move-messages',
    ]) {
      assert.doesNotMatch(await tell(wrong), UNDERSTOOD, wrong);
    }
  });

  for (const page of PAGES) {
    const commands = awsCommands(page);
    if (commands.length === 0) continue;
    it(`takes the commands of ${page}`, async () => {
      for (const command of commands) assert.match(await tell(command), UNDERSTOOD, command);
    });
  }
});

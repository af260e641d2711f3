/**
 * The recipe of docs/ci.md as a pipeline runs it: the shipped script, the real `rollcall` as a process against local tables, and a `gh`
 * that records the comment (issue 18).
 */
import assert from 'node:assert/strict';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { ROLLCALL, ROOT, endOf, exampleFleet, openCommandStage } from './command-stage.ts';
import { storeCluster, type CommandStage, type Ended } from './command-stage.ts';

const SCRIPT = path.join(ROOT, 'examples/ci/comment-fleet-plan.sh');
const COMMENT_MAX = 65_536;

describe('the CI recipe', () => {
  let stage: CommandStage;
  const at = (name: string): string => path.join(stage.directory, name);

  before(async () => {
    stage = await openCommandStage();
    await program('rollcall', `exec '${process.execPath}' '${ROLLCALL}' "$@"`);
    await program('gh', `printf '%s\\n' "$*" >>"$CALLS"; cp "$5" "$COMMENT"`);
    await writeFile(at('fleet.yaml'), await exampleFleet());
    for (const id of ['prod-eu-1', 'prod-eu-2']) await storeCluster(stage, id, { stage: 'prod' });
  });
  after(() => stage.close());
  beforeEach(async () => {
    await rm(at('calls'), { force: true });
    await rm(at('comment'), { force: true });
  });

  async function program(name: string, body: string): Promise<void> {
    await writeFile(at(name), `#!/bin/sh\n${body}\n`);
    await chmod(at(name), 0o755);
  }

  const run = (files: readonly string[], variables: NodeJS.ProcessEnv): Promise<Ended> => {
    const recorded = { CALLS: at('calls'), COMMENT: at('comment') };
    const PATH = `${stage.directory}:${process.env['PATH'] ?? ''}`;
    return endOf(SCRIPT, files, { ...stage.environment, ...recorded, PATH, ...variables });
  };

  it('comments node counts on the pull request, in one comment that is edited', async () => {
    const ended = await run([at('fleet.yaml')], { PULL_REQUEST: '12' });
    assert.equal(ended.code, 0, ended.stderr);
    const calls = await readFile(at('calls'), 'utf8');
    assert.match(calls, /^pr comment 12 --body-file \S+ --edit-last --create-if-none\n$/);
    const comment = await readFile(at('comment'), 'utf8');
    assert.match(comment, /^### `monitoring\/agent, as in the file`/);
    assert.match(comment, /\*\*2 clusters: 2 get it, 0 change, 0 have it; 10 nodes change\.\*\*/);
    assert.match(comment, /^prod-eu-1 \(stage first, 5 nodes\): has none$/m);
  });

  it('prints the comment where there is no pull request', async () => {
    const ended = await run([at('fleet.yaml')], {});
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(ended.stdout, /; 10 nodes change\.\*\*/);
  });

  it('fails the check, and comments, when a cluster could be given nothing', async () => {
    const fleet = parse(await readFile(at('fleet.yaml'), 'utf8')) as {
      spec: { overrides: unknown };
    };
    const jsonPatch = [{ op: 'remove', path: '/spec/template/spec/containers/7' }];
    fleet.spec.overrides = [{ name: 'wrong', jsonPatch }];
    await writeFile(at('refused.yaml'), stringify(fleet));
    const ended = await run([at('refused.yaml')], { PULL_REQUEST: '12' });
    assert.equal(ended.code, 3, ended.stderr);
    assert.match(await readFile(at('comment'), 'utf8'), /2 clusters could be given nothing/);
  });

  it('comments nothing where a file cannot be used, and says why', async () => {
    await writeFile(at('broken.yaml'), 'kind: FleetDaemonSet\n');
    const ended = await run([at('broken.yaml')], { PULL_REQUEST: '12' });
    assert.equal(ended.code, 2);
    assert.match(ended.stderr, /spec/);
    await assert.rejects(readFile(at('comment')));
  });

  it('keeps below what GitHub takes, however many files there are', async () => {
    await program('rollcall', "yes 'a line of a plan that is rather long' | head -c 39000");
    const files = Array.from({ length: 5 }, () => at('fleet.yaml'));
    const ended = await run(files, { PULL_REQUEST: '12' });
    assert.equal(ended.code, 0, ended.stderr);
    const comment = await readFile(at('comment'), 'utf8');
    assert.ok(comment.length < COMMENT_MAX);
    assert.match(comment, /run rollcall fleet plan for the other files\.\n$/);
  });
});

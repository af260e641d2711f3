/**
 * The recipe of docs/ci.md as a pipeline runs it: the shipped script, the real `rollcall` as a process against local tables, and a `gh`
 * that records the comment (issue 18).
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { startLocalAws, type LocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import { writeSecondTerminal } from '../../../src/cli/start/second-terminal.ts';
import { clusterUid } from '../../../src/core/model/identifiers.ts';
import { SERVERLESS_FILE, STAGE, openStores } from '../../../src/engine/engine-stores.ts';
import type { EngineStores } from '../../../src/engine/engine-stores.ts';
import { metaOf, registrationOf, sliceOf, stampAt } from '../../support/store-suite.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;
const SCRIPT = path.join(ROOT, 'examples/ci/comment-fleet-plan.sh');
const COMMENT_MAX = 65_536;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('the CI recipe', () => {
  let aws: LocalAws;
  let stores: EngineStores;
  let directory = '';
  let environment: NodeJS.ProcessEnv = {};
  const at = (name: string): string => path.join(directory, name);

  before(async () => {
    aws = await startLocalAws({ serverlessFile: SERVERLESS_FILE, stage: STAGE });
    Object.assign(process.env, aws.environment);
    stores = openStores(aws);
    directory = await mkdtemp(path.join(tmpdir(), 'rollcall-recipe-'));
    const text = await readFile(await writeSecondTerminal({ directory, aws }), 'utf8');
    const exports = [...text.matchAll(/^export (\w+)='(.*)'$/gm)];
    environment = Object.fromEntries(exports.map(([, name = '', value = '']) => [name, value]));
    const entry = path.join(ROOT, 'src/cli/rollcall.ts');
    await program('rollcall', `exec '${process.execPath}' '${entry}' "$@"`);
    await program('gh', `printf '%s\\n' "$*" >>'${at('calls')}'; cp "$5" '${at('comment')}'`);
    const page = await readFile(path.join(ROOT, 'docs/fleet.md'), 'utf8');
    await writeFile(at('fleet.yaml'), /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
    for (const id of ['prod-eu-1', 'prod-eu-2']) await addCluster(id);
  });
  after(async () => {
    stores.destroy();
    await aws.stop();
    await rm(directory, { recursive: true });
  });
  beforeEach(async () => {
    await rm(at('calls'), { force: true });
    await rm(at('comment'), { force: true });
  });

  async function program(name: string, body: string): Promise<void> {
    await writeFile(at(name), `#!/bin/sh\n${body}\n`);
    await chmod(at(name), 0o755);
  }

  async function addCluster(id: string): Promise<void> {
    const labels = { stage: 'prod' };
    await stores.registry.writeCluster({ ...registrationOf(id), mode: 'takeover', labels }, 0);
    const cluster = clusterUid(`uid-of-${id}`);
    const slice = { clusterUid: cluster, set: 'nodes' as const, index: 0 };
    await stores.view.writeSlice(slice, sliceOf(stampAt(1), 5), undefined);
    const meta = { ...metaOf(cluster), isComplete: true, lastSentAtMs: Date.now() };
    await stores.view.writeMeta(meta);
  }

  const run = (files: readonly string[], variables: NodeJS.ProcessEnv): Promise<Ended> =>
    new Promise((resolve) => {
      const PATH = `${directory}:${process.env['PATH'] ?? ''}`;
      const { NODE_COMPILE_CACHE } = process.env;
      const env = { ...environment, USER: 'ci', PATH, NODE_COMPILE_CACHE, ...variables };
      execFile(SCRIPT, files, { env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });

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

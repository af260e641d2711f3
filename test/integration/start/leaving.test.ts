/**
 * How `npm start` begins and ends beside others, as a process: nobody's files are touched, and nothing of its own stays behind.
 *
 * Each runs with a temporary directory of its own, so that what it leaves there can be counted.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { noteOfThisProcess } from '@rollcall/local-aws/deployment/process-note.ts';
import { takeDataDirectory } from '@rollcall/local-aws/deployment/data-directory.ts';
import { CommandError, EXIT } from '../../../src/cli/process/exit-codes.ts';
import { openWorkingDirectory } from '../../../src/cli/process/working-directory.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const MAIN = path.join(ROOT, 'src/cli/main.ts');
const SMALL = ['--clusters', '1', '--nodes', '3'];
/** Said once everything runs: the file for a second terminal, and the page. */
const UP = /^ {2}\. (\S+rollcall\.env)$[^]*^The page: (\S+)$/m;
/** The same of one that leaves by itself, and serves none. */
const UP_WITHOUT_PAGE = /^ {2}\. (\S+rollcall\.env)$()/m;
const DEADLINE_MS = 120_000;

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

describe('npm start beside others, and at its end', () => {
  let directory = '';
  let temporary = '';
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'rollcall-leaving-'));
    temporary = path.join(directory, 'tmp');
    mkdirSync(temporary);
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  /** Runs it; `onUp` is called once its clusters run. */
  async function run(
    command: readonly [string, ...string[]],
    onUp: (child: ChildProcess, file: string, page: string) => void = (): void => undefined,
    up = UP,
  ): Promise<Ended> {
    const [program, ...parameters] = command;
    const env = { ...process.env, TMPDIR: temporary, _: program };
    const options = { env, cwd: ROOT, detached: true, timeout: DEADLINE_MS } as const;
    const child = spawn(program, parameters, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { out: '', error: '' };
    let isUp = false;
    const listen = (name: 'out' | 'error') => (chunk: string) => {
      said[name] += chunk;
      const [, file, page] = up.exec(said[name]) ?? [];
      if (isUp || file === undefined || page === undefined) return;
      isUp = true;
      onUp(child, file, page);
    };
    child.stdout.setEncoding('utf8').on('data', listen('out'));
    child.stderr.setEncoding('utf8').on('data', listen('error'));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...said };
  }
  const start = (...options: string[]) => [process.execPath, MAIN, ...options] as const;

  it('refuses a data directory that another process holds, and touches nothing there', async () => {
    const data = path.join(directory, 'data');
    const taken = takeDataDirectory(data);
    assert.ok(taken.kind === 'held');
    writeFileSync(path.join(data, 'kubeconfig'), 'of the one that runs');
    const before = readdirSync(data, { recursive: true });
    const { code, error } = await run(start(...SMALL, '--data', data));
    assert.equal(code, 3, error);
    assert.match(error, new RegExp(`in use by process ${String(process.pid)}`));
    assert.doesNotMatch(error, /bug in rollcall/);
    assert.equal(readFileSync(path.join(data, 'kubeconfig'), 'utf8'), 'of the one that runs');
    assert.deepEqual(readdirSync(data, { recursive: true }), before);
  });

  it('refuses a data directory that others may write to, and leaves its rights alone', () => {
    const data = path.join(directory, 'data');
    mkdirSync(data);
    chmodSync(data, 0o777);
    assert.throws(
      () => openWorkingDirectory(data, () => undefined),
      refusalOf(/may be written to by other users/),
    );
    assert.deepEqual(readdirSync(data), []);
    assert.equal(statSync(data).mode & 0o777, 0o777);
  });

  it('refuses a data directory whose tables are of a release before', () => {
    const data = path.join(directory, 'data');
    mkdirSync(path.join(data, 'dynamodb'), { recursive: true, mode: 0o700 });
    writeFileSync(path.join(data, 'dynamodb', 'CURRENT'), 'MANIFEST-000001');
    assert.throws(
      () => openWorkingDirectory(data, () => undefined),
      refusalOf(/tables in .*data are those of a release before/),
    );
    assert.deepEqual(readdirSync(data), ['dynamodb']);
  });

  it('takes over the data of one that is gone, finds nothing wrong, serves its page to the end', async () => {
    const data = path.join(directory, 'data');
    mkdirSync(data, { mode: 0o755 });
    // Its id is in use again.
    writeFileSync(path.join(data, 'lock'), `${noteOfThisProcess()}0`);
    const seen: Promise<readonly [Looked, Ended, Ended]>[] = [];
    const options = [...SMALL, '--data', data, '--page-port', '0'];
    const { code, out, error } = await run(start(...options), (child, file, page) => {
      // Its first snapshot may still be under way when the table is shown, and the doctor says so.
      const settled = `for look in 1 2 3 4 5 6 7 8 9; do
        told=$(rollcall cluster doctor local-1); code=$?
        case "$told" in *' 0 failed, 0 warning'*) break;; esac
      done; echo "$told"; exit $code`;
      const inShell = (words: string): Promise<Ended> => run(['sh', '-c', `. ${file} && ${words}`]);
      const all = Promise.all([look(page), inShell('rollcall stack check'), inShell(settled)]);
      seen.push(all);
      const end = (): void => {
        child.kill('SIGINT');
      };
      all.then(end, end);
    });
    assert.equal(code, 0, error);
    assert.match(out, /^ended: clusters, queues and tables stay in .*data/m);
    for (const name of ['clusters', 'dynamodb', 'sqs']) {
      assert.equal(statSync(path.join(data, name)).mode & 0o777, 0o700, `${name} holds keys`);
    }
    const [[[status, text], stack, doctor] = assert.fail('it was never up')] =
      await Promise.all(seen);
    assert.equal(status, 200);
    assert.ok(text !== undefined);
    assert.equal(
      stack.out,
      'Nothing stands in the way: this stack runs inside npm start, in no account of AWS.\n',
    );
    assert.match(doctor.out, /^ {2}0 failed, 0 warning, /m, doctor.error);
    assert.equal(doctor.code, 0, doctor.out);
  });

  it('ends in order when nobody reads what it prints any more', async () => {
    const { code, error } = await run(start(...SMALL), (child) => {
      child.stdout?.destroy();
    });
    assert.equal(code, 0, error);
    assert.equal(error, '');
    assert.deepEqual(readdirSync(temporary), []);
  });

  it('ends in order when its terminal is closed, and removes what a killed one left', async () => {
    const note = (name: string, text: string): void => {
      mkdirSync(path.join(temporary, name));
      writeFileSync(path.join(temporary, name, 'made-by'), text);
      writeFileSync(path.join(temporary, name, 'kubeconfig'), 'of an administrator');
    };
    note('rollcall-gone', `${noteOfThisProcess()}0`);
    writeFileSync(path.join(temporary, 'rollcall-gone', 'installation'), 'start/here/killed1\n');
    note('rollcall-runs', noteOfThisProcess());
    note('somebodys', `${noteOfThisProcess()}0`);
    mkdirSync(path.join(temporary, 'rollcall-data'));
    symlinkSync(path.join(temporary, 'somebodys'), path.join(temporary, 'rollcall-link'));
    let installation = '';
    const { code, out, error } = await run(start(...SMALL), (child, file) => {
      installation = readFileSync(path.join(path.dirname(file), 'installation'), 'utf8');
      child.kill('SIGHUP');
    });
    assert.equal(code, 0, error);
    assert.equal(installation, 'start/here/killed1\n', 'its Leases are taken at once');
    assert.match(out, /^removed .*rollcall-gone, which a start left that was killed$/m);
    assert.match(out, /^ended: the local clusters are gone/m);
    const kept = ['rollcall-data', 'rollcall-link', 'rollcall-runs', 'somebodys'];
    assert.deepEqual(readdirSync(temporary).sort(), kept);
    assert.ok(readdirSync(path.join(temporary, 'somebodys')).includes('kubeconfig'));
  });

  it('goes on under nohup when the terminal is closed, to its own end, and prints events there', async () => {
    const npm = ['npm', 'start', '--silent', '--', '--exit-when-settled', ...SMALL];
    const hangUp = ({ pid }: ChildProcess): void => {
      if (pid !== undefined) process.kill(-pid, 'SIGHUP');
    };
    // npm itself ends by the hangup.
    const { out } = await run(['nohup', ...npm], hangUp, UP_WITHOUT_PAGE);
    assert.match(out, /^\d\d:\d\d:\d\d local-1 node-agents\/log-collector: \d pods? created/m);
    assert.equal(out.match(/^NAMESPACE /gm)?.length, 1, out);
    assert.match(out, /^node-agents +log-collector +(\d+)( +\1){4}$/m);
    assert.deepEqual(readdirSync(temporary), []);
  });
});

/** What a page answered: a status, and the beginning of a stream that stays open. */
type Looked = readonly [number, string | undefined];

async function look(address: string): Promise<Looked> {
  const [page = '', token = ''] = address.split('#token=');
  const headers = { authorization: `Bearer ${token}` };
  const { status, body } = await fetch(new URL('/api/v1/events', page), { headers });
  return [status, (await body?.getReader().read())?.value?.toString()];
}

function refusalOf(message: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof CommandError);
    assert.equal(error.exitCode, EXIT.refused);
    assert.match(error.message, message);
    return true;
  };
}

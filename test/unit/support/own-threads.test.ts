/**
 * What is ours in a table of processes: a process, and all that it has started, whatever became of the parents.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createOwnThreads } from '../../support/own-threads.ts';

type Family = readonly [number, number];

const ROOT = 100;

describe('createOwnThreads', () => {
  let procDirectory: string;
  beforeEach(() => {
    procDirectory = mkdtempSync(join(tmpdir(), 'rollcall-proc-'));
  });
  afterEach(() => {
    rmSync(procDirectory, { recursive: true });
  });

  /** Writes a process with a thread for each letter of `states`. */
  function put([pid, parentPid]: Family, states: string, startedAt = '1'): void {
    [...states].forEach((state, index) => {
      const thread = join(procDirectory, String(pid), 'task', String(pid + index));
      mkdirSync(thread, { recursive: true });
      writeFileSync(join(thread, 'stat'), stat(pid, parentPid, { state, startedAt }));
    });
    const [state = 'S'] = states;
    const line = stat(pid, parentPid, { state, startedAt });
    writeFileSync(join(procDirectory, String(pid), 'stat'), line);
  }

  const count = (): number => createOwnThreads({ procDirectory, rootPid: ROOT }).countRunnable();

  it('counts runnable threads of the process and of its children, and theirs', () => {
    put([ROOT, 1], 'RS');
    put([200, ROOT], 'RRR');
    put([300, 200], 'SR');
    assert.equal(count(), 5);
  });

  it('counts none of a neighbour, of a parent, or of one that sleeps', () => {
    put([1, 0], 'R');
    put([ROOT, 1], 'S');
    put([200, 1], 'RR');
    put([300, 200], 'R');
    assert.equal(count(), 0);
  });

  it('keeps a child whose parent has ended, but not another process under its number', () => {
    put([ROOT, 1], 'S');
    put([200, ROOT], 'S');
    put([300, 200], 'R');
    const own = createOwnThreads({ procDirectory, rootPid: ROOT });
    assert.equal(own.countRunnable(), 1);
    rmSync(join(procDirectory, '200'), { recursive: true });
    put([300, 1], 'R');
    assert.equal(own.countRunnable(), 1);
    put([300, 1], 'R', '2');
    assert.equal(own.countRunnable(), 0);
  });

  it('counts this very process by the true table', { skip: process.platform !== 'linux' }, () => {
    assert.ok(createOwnThreads().countRunnable() >= 1);
  });
});

function stat(
  pid: number,
  parentPid: number,
  of: { readonly state: string; readonly startedAt: string },
): string {
  const between = Array.from({ length: 17 }, () => '0').join(' ');
  return `${String(pid)} (a (name) R) ${of.state} ${String(parentPid)} ${between} ${of.startedAt} 0\n`;
}

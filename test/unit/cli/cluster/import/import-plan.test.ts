/** The plan of an import: one failure is one line, and two clusters never become one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAddContext } from '../../../../../src/cli/cluster/add/add-examine.ts';
import { parseAddRequest } from '../../../../../src/cli/cluster/add/add-request.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { planImport } from '../../../../../src/cli/cluster/import/import-clusters.ts';
import type { ImportEntry } from '../../../../../src/cli/cluster/import/import-sources.ts';
import type { CommandContext } from '../../../../../src/cli/command-line/command-module.ts';
import { CommandError, EXIT } from '../../../../../src/cli/process/exit-codes.ts';
import { CommandWorld } from '../../../../support/command-world.ts';

/** A cluster that is not asked: its UID is given. */
function entry(id: string, clusterUid: string, senderRoleId = `AROA${id}`): ImportEntry {
  const server = `https://${id}.example`;
  const request = { id, clusterUid, server, credentials: 'static', senderRoleId };
  return { name: id, id, request: parseAddRequest(request) };
}

function plan(entries: readonly ImportEntry[], stage = 'dev') {
  const world = new CommandWorld();
  const stack = world.open({ stage });
  const context = {
    clock: world.clock,
    signal: world.controller.signal,
    environment: {},
    say: () => undefined,
  };
  // Nothing else of a command's context is used by a plan.
  return planImport(entries, createAddContext(stack, context as unknown as CommandContext, true));
}

const statesOf = (planned: Awaited<ReturnType<typeof plan>>): readonly string[] =>
  planned.map(({ id, state }) => `${id} ${state}`);

describe('the plan of an import', () => {
  it('goes on after what cannot be used or reached', async () => {
    const bad = new CommandError({ message: 'no', remedy: '', exitCode: EXIT.usage });
    const gone = parseAddRequest({ id: 'c', kubeconfig: '/nonexistent', sameAccount: true });
    const planned = await plan([
      entry('a', 'u1'),
      { name: 'b', id: 'b', request: bad },
      { name: 'c', id: 'c', request: gone },
      entry('d', 'u2'),
    ]);
    assert.deepEqual(statesOf(planned), ['a new', 'b invalid', 'c unreachable', 'd new']);
    assert.match(planned[2]?.detail ?? '', /cannot be used/);
  });

  it('adds neither of two names for one cluster, nor of two clusters with one role (S6)', async () => {
    const twice = await plan([entry('a', 'u1'), entry('b', 'u1'), entry('c', 'u2')]);
    assert.deepEqual(statesOf(twice), ['a invalid', 'b invalid', 'c new']);
    assert.match(twice[0]?.detail ?? '', /the same cluster as b/);
    const shared = [entry('a', 'u1', 'AROA1'), entry('b', 'u2', 'AROA1')];
    assert.deepEqual(statesOf(await plan(shared)), ['a invalid', 'b invalid']);
    assert.deepEqual(statesOf(await plan(shared, 'local')), ['a new', 'b new']);
  });
});

describe('mapping concurrently', () => {
  it('keeps the order, and no more at work than allowed', async () => {
    let running = 0;
    let most = 0;
    const results = await sideBySide([5, 1, 4, 2, 3], 2, async (item) => {
      running += 1;
      most = Math.max(most, running);
      for (let turn = 0; turn < item; turn += 1) await Promise.resolve();
      running -= 1;
      return item * 10;
    });
    assert.deepEqual(results, [50, 10, 40, 20, 30]);
    assert.equal(most, 2);
  });
});

/** The restored template of copilot is a batch of its own: what stops it, nothing of it is sent (protocol 7, S17). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { restoreTemplate } from '../../../../../src/app/reconcile/execute/restore-template.ts';
import { RunResult } from '../../../../../src/app/reconcile/run/result.ts';
import { readStored } from '../../../../../src/app/reconcile/read/stored-inputs.ts';
import { emptyState } from '../../../../../src/core/model/state.ts';
import { ReconcileWorld } from '../../../../support/reconcile-world.ts';

const NOTE = { by: 'ann', why: 'a drill', atMs: 1 };

/** What it asks the cluster for after other effects of its run, with the stack frozen or not. */
async function askedFor(
  isFrozen: boolean,
  act: (result: RunResult) => void = recordOne,
): Promise<{ asked: string[]; problems: string[] }> {
  const world = await ReconcileWorld.settled({ nodes: 1, mode: 'copilot' });
  const { hint, dependencies } = world;
  const read = await readStored(hint, dependencies);
  assert.equal(read.kind, 'read');
  const { stored } = read;
  if (isFrozen) world.freezes.seed({ all: NOTE, daemonSets: {} });
  const asked: string[] = [];
  const access = new Proxy(
    {},
    {
      get: (_target, name) => () => {
        asked.push(String(name));
        return Promise.resolve({ kind: 'unavailable', message: 'not in this test' });
      },
    },
  );
  const result = new RunResult();
  act(result);
  const deadlineMs = dependencies.clock.monotonicMs() + 60_000;
  const context = { hint, run: { deadlineMs }, wallDeadlineMs: Infinity, dependencies };
  const input = { stored, daemonSet: world.daemonSet, read: { revisions: [] } };
  const plan = { restores: 'abc' };
  const recorded = stored.state ?? emptyState(0);
  // Of a step only what it reads.
  await restoreTemplate({ context, input, access, plan, result, recorded } as never);
  return { asked, problems: result.problems.map(({ code }) => code) };
}

function recordOne(result: RunResult): void {
  result.recorded.push({} as never); // that there is one is all that counts
}

describe('restoring a template after other effects of its run', () => {
  it('goes on while nothing changed', async () => {
    assert.notEqual((await askedFor(false)).asked.length, 0);
  });

  it('asks the cluster for nothing once the stack was frozen', async () => {
    assert.deepEqual(await askedFor(true), { asked: [], problems: ['interrupted'] });
  });

  it('asks for nothing either where the stack was frozen after nothing but adoptions', async () => {
    const adopted = await askedFor(true, (result) => (result.patched = 1));
    assert.deepEqual(adopted, { asked: [], problems: ['interrupted'] });
  });
});

/** How long a cluster was in the dark: gaps in what is heard of nodes or pods, beyond the silence bound, summed up. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DARK_AFTER_MS, unheardAfter } from '../../../../src/core/view/freshness.ts';
import { defaultReconcileOptions } from '../../../../src/app/reconcile/process/dependencies.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';

const heard = (nodesMs: number, podsMs = nodesMs) => ({
  Node: NOW_MS + nodesMs,
  Pod: NOW_MS + podsMs,
});

describe('time in the dark', () => {
  it('is a gap beyond the silence bound', () => {
    const meta = { heardAtMs: heard(0) };
    assert.deepEqual(unheardAfter(meta, heard(DARK_AFTER_MS)), {});
    assert.deepEqual(unheardAfter(meta, heard(DARK_AFTER_MS + 1)), {
      unheardMs: DARK_AFTER_MS + 1,
    });
    assert.equal(DARK_AFTER_MS, defaultReconcileOptions.silenceBoundMs);
  });

  it('is that of nodes or of pods, whichever was longer, and adds up', () => {
    const meta = { heardAtMs: heard(0), unheardMs: 5 };
    assert.deepEqual(unheardAfter(meta, heard(1_000_000, 30_000)), { unheardMs: 1_000_005 });
    assert.deepEqual(unheardAfter(meta, heard(30_000, 2_000_000)), { unheardMs: 2_000_005 });
    assert.deepEqual(unheardAfter(meta, heard(30_000)), { unheardMs: 5 });
  });

  it('is none before anything was heard, or where a message is older', () => {
    assert.deepEqual(unheardAfter({ heardAtMs: {} }, heard(0)), {});
    assert.deepEqual(unheardAfter({ heardAtMs: heard(0) }, {}), {});
    assert.deepEqual(unheardAfter({ heardAtMs: heard(0) }, heard(-2_000_000)), {});
  });
});

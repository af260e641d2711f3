/** A state whose log is full, so that the next run gives it an item of its own, and whose coverage was counted ten minutes ago. */
import assert from 'node:assert/strict';
import { withEntries } from '../../../src/core/log/append-log.ts';
import type { ClusterUid } from '../../../src/core/model/identifiers.ts';
import type { LogEntry } from '../../../src/core/model/log-entry.ts';
import type { ViewStore } from '../../../src/ports/stores/view-store.ts';

/** Seconds: stops are read where coverage was counted so long ago. */
const COUNTED_AGO = 600;

/** Fills the logs of the cluster's DaemonSets. */
export async function fillLog(
  view: Pick<ViewStore, 'listNames' | 'readState' | 'writeState'>,
  clusterUid: ClusterUid,
): Promise<void> {
  const entries = Array.from({ length: 12 }, (_, index): LogEntry => ({
    kind: 'wait',
    atMs: index + 1,
    code: 'x'.repeat(100),
  }));
  const { names } = await view.listNames(clusterUid, { limit: 10 });
  for (const { uid } of names) {
    const state = uid === null ? undefined : await view.readState({ clusterUid, uid });
    if (uid === null || state === undefined) continue;
    assert.ok(state.coverage !== undefined, 'its coverage was counted');
    const coverage = { ...state.coverage, at: state.coverage.at - COUNTED_AGO };
    const full = withEntries({ ...state, coverage }, entries);
    assert.equal(await view.writeState({ clusterUid, uid }, full), 'written');
  }
}

/** Records the entry of effects that have no intents, by a write of its own before they are sent (S18). */
import { withEntries } from '../../../core/log/append-log.ts';
import { entriesOf } from '../../../core/log/effect-entries.ts';
import type { DaemonSetState } from '../../../core/model/state.ts';
import type { DaemonSetRef } from '../../../ports/stores/view-store.ts';
import type { RunContext } from '../run/context.ts';
import type { RunResult } from '../run/result.ts';

/** What a run has recorded so far, and where. */
interface RecordedRun {
  readonly ref: DaemonSetRef;
  readonly recorded: DaemonSetState;
  readonly result: RunResult;
}

/** The state with the entry; undefined: another run was first, and this one stops. */
export async function recordEntry(
  wanted: Parameters<typeof entriesOf>[0],
  { ref, recorded, result }: RecordedRun,
  { recordIntents, dependencies }: Pick<RunContext, 'recordIntents' | 'dependencies'>,
): Promise<DaemonSetState | undefined> {
  const at = { atMs: dependencies.clock.nowMs(), run: recorded.version + 1 };
  const entries = entriesOf(wanted, at);
  const change = { from: recorded, to: withEntries(recorded, entries), settled: [] };
  const write = await recordIntents(ref, change);
  if (write.kind !== 'written') {
    result.addStop({ code: 'lost-race', message: 'another run took over' });
    return undefined;
  }
  result.logged.push(...entries);
  return write.state;
}

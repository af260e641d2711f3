/** The newest entries of the log, as the stream tells them. */
import type { VNode } from 'preact';
import { useLive } from '../live/page-context.ts';
import { LogTable } from '../parts/log-table.tsx';
import { Panel } from '../parts/panel.tsx';

const SHOWN = 8;

/** The panel; nothing while nothing happens. */
export function JustNow(): VNode | null {
  const { entries } = useLive();
  if (entries.length === 0) return null;
  return (
    <Panel title="Just now">
      <LogTable entries={entries.slice(-SHOWN)} />
    </Panel>
  );
}

/** The log: what happened, the newest first, with the filters of `rollcall log`; they are in the address. */
import type { VNode } from 'preact';
import type { Log } from '../model/documents.ts';
import { useQuery } from '../live/page-context.ts';
import { useDocument } from '../live/use-document.ts';
import { Shown } from '../parts/asked.tsx';
import { ClusterField, Controls, SearchField, SelectField } from '../parts/controls.tsx';
import { LogNotes, LogTable } from '../parts/log-table.tsx';
import { Panel } from '../parts/panel.tsx';

const ASK_MS = 5_000;
const LIMIT = 300;
const NOT_LIKE = 'No entry of this time has these words.';
const TIMES = [
  ['2h', 'two hours'],
  ['8h', 'eight hours'],
  ['24h', 'a day'],
  ['7d', 'a week'],
  ['30d', '30 days'],
] as const;

/** The view. */
export function LogView(): VNode {
  const [{ subject = '', cluster = '', since = '2h', q = '' }] = useQuery();
  const asked = useDocument<Log>({
    words: 'log',
    parameters: { subject, cluster, since, limit: LIMIT },
    everyMs: ASK_MS,
  });
  return (
    <>
      <h1>Log</h1>
      <Filters />
      <Panel title="What happened">
        <Shown asked={asked} command="rollcall log">
          {(log) => (
            <>
              <LogNotes log={log} />
              <LogTable
                entries={log.entries.filter(({ text }) => isLike(text, q))}
                {...(log.entries.length === 0 ? {} : { none: NOT_LIKE })}
              />
            </>
          )}
        </Shown>
      </Panel>
    </>
  );
}

function isLike(text: string, q: string): boolean {
  return text.toLowerCase().includes(q.toLowerCase());
}

function Filters(): VNode {
  const [{ subject = '', since = '2h' }, change] = useQuery();
  return (
    <Controls>
      <label class="grows">
        <span>DaemonSet (namespace/name) or node</span>
        <input
          type="search"
          value={subject}
          onChange={(event) => {
            change({ subject: event.currentTarget.value.trim() });
          }}
        />
      </label>
      <SearchField label="Words" />
      <ClusterField none="all" />
      <SelectField label="Of the last" name="since" value={since} options={TIMES} />
    </Controls>
  );
}

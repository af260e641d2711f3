/** The log: what happened, the newest first, with the filters of `rollcall log`; they are in the address. */
import type { VNode } from 'preact';
import type { Log } from '../model/documents.ts';
import { useLive, useQuery } from '../live/page-context.ts';
import { useDocument } from '../live/use-document.ts';
import { Shown } from '../parts/asked.tsx';
import { LogNotes, LogTable } from '../parts/log-table.tsx';
import { Panel } from '../parts/panel.tsx';

const ASK_MS = 5_000;
const LIMIT = 300;
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
              <LogTable entries={log.entries.filter(({ text }) => isLike(text, q))} />
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
  const [{ subject = '', cluster = '', since = '2h', q = '' }, change] = useQuery();
  const { map } = useLive();
  const clusters = map?.clusters.map(({ id }) => id) ?? [];
  return (
    <form
      class="controls"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
      }}
    >
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
      <label class="grows">
        <span>Words</span>
        <input
          type="search"
          value={q}
          onInput={(event) => {
            change({ q: event.currentTarget.value });
          }}
        />
      </label>
      <label>
        <span>Cluster</span>
        <select
          value={cluster}
          onChange={(event) => {
            change({ cluster: event.currentTarget.value });
          }}
        >
          <option value="">all</option>
          {[...new Set([...clusters, ...(cluster === '' ? [] : [cluster])])].map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Of the last</span>
        <select
          value={since}
          onChange={(event) => {
            change({ since: event.currentTarget.value });
          }}
        >
          {TIMES.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
    </form>
  );
}

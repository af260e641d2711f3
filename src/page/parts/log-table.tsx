/** Entries of the log, the newest first, with the shape of what they tell. */
import type { VNode } from 'preact';
import { counted } from '@rollcall/base/counted.ts';
import { subjectText } from '../../core/log/merge-log.ts';
import { timeText } from '../../core/rollout/gate-words.ts';
import type { Log, ToldEntry } from '../model/documents.ts';
import type { LookKind } from '../model/looks.ts';
import { clockText } from '../model/told-times.ts';
import { usePage } from '../live/page-context.ts';
import { useStore } from '../live/store.ts';
import { SetLink } from './link.tsx';
import { KindMark } from './mark.tsx';
import { Outages } from './outages.tsx';
import { Notes, Table } from './panel.tsx';

/** Of entries that are no plain effect. */
const KINDS: Readonly<Partial<Record<ToldEntry['kind'], LookKind>>> = {
  halt: 'failing',
  removal: 'held',
  wait: 'held',
  order: 'held',
  silence: 'unknown',
  rollout: 'coming',
  step: 'coming',
  return: 'coming',
  fleet: 'coming',
};

/** The entries; `none`: the words where there are none. */
export function LogTable(props: {
  readonly entries: readonly ToldEntry[];
  readonly none?: string;
}): VNode {
  const { entries, none = 'There is no entry of this time.' } = props;
  const nowMs = useStore(usePage().now);
  if (entries.length === 0) return <p class="empty">{none}</p>;
  return (
    <Table label="Entries of the log" headings={['Time', 'Cluster', 'About', 'What']} narrow="flow">
      {entries.toReversed().map((entry, place) => {
        const { atMs, cluster, subject, text, kind } = entry;
        return (
          // Entries have no id; two of one time differ in their words.
          <tr key={`${String(atMs)} ${cluster ?? ''} ${text} ${String(entries.length - place)}`}>
            <td class="nowrap">
              <time dateTime={timeText(atMs)}>{clockText(atMs, nowMs)}</time>
            </td>
            <td class="nowrap">{cluster ?? '–'}</td>
            <td class="names">
              {subject.kind === 'daemon-set' && cluster !== undefined ? (
                <SetLink
                  view="daemonset"
                  cluster={cluster}
                  set={`${subject.namespace}/${subject.name}`}
                />
              ) : (
                subjectText(subject) || '–'
              )}
            </td>
            <td>
              <KindMark kind={kindOf(entry) ?? KINDS[kind] ?? 'serving'} /> {text}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

/** Of an effect of which something was refused. */
function kindOf(entry: ToldEntry): LookKind | undefined {
  if (entry.kind !== 'effect') return undefined;
  if (entry.parts.some(({ came }) => came === 'refused')) return 'failing';
  return entry.parts.some(({ came }) => came === 'unknown') ? 'unknown' : undefined;
}

/** What a log could not tell. */
export function LogNotes(props: { readonly log: Log }): VNode | null {
  const { leftOut, unnamed, unreadable, omitted, outages } = props.log;
  const notes = [
    ...(omitted === 0
      ? []
      : [`${counted(omitted, 'older entry is', 'older entries are')} not shown.`]),
    ...leftOut.map(
      ({ entries, requests, fromMs, toMs }) =>
        `${counted(entries, 'entry', 'entries')} of ${timeText(fromMs)} to ${timeText(toMs)} had no room: ${counted(requests, 'request')} stood in them.`,
    ),
    ...(unnamed === 0
      ? []
      : [`${counted(unnamed, 'entry does', 'entries do')} not name all nodes of theirs.`]),
    ...unreadable.map((reason) => `Cannot be read: ${reason}`),
  ];
  return (
    <>
      <Outages outages={outages} />
      <Notes notes={notes} />
    </>
  );
}

/**
 * The table of events: LAST SEEN TYPE REASON OBJECT MESSAGE, and with `-o wide` who said so and how often.
 *
 * Events come in two styles: with first and last timestamps and a count, or with an event time and perhaps a series.
 */
import type { ApiObject } from '../objects/api-object.ts';
import { column, NAME_COLUMN, wideColumn } from './columns.ts';
import { timeSince } from './human-duration.ts';
import type { Cell, TableShape } from './table.ts';

interface EventView {
  readonly metadata: ApiObject['metadata'];
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string | null };
  readonly source?: { readonly component?: string; readonly host?: string };
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
  readonly involvedObject: {
    readonly kind?: string;
    readonly name?: string;
    readonly fieldPath?: string;
  };
}

/** The table of events. */
export const EVENTS_TABLE: TableShape = {
  columns: [
    column('Last Seen', 'When it happened last.'),
    column('Type', 'Normal or Warning.'),
    column('Reason', 'Why, in a word.'),
    column('Object', 'What it is about.'),
    wideColumn('Subobject', 'Which part of it.'),
    wideColumn('Source', 'Who reports it.'),
    column('Message', 'What happened, for people.'),
    wideColumn('First Seen', 'When it happened first.'),
    wideColumn('Count', 'How often it happened.'),
    { ...NAME_COLUMN, priority: 1 },
  ],
  cells: eventCells,
};

function eventCells(object: ApiObject, nowMs: number): readonly Cell[] {
  const event = object as ApiObject & EventView;
  const { firstSeen, lastSeen, count } = occurrences(event, nowMs);
  return [
    lastSeen,
    event.type ?? '',
    event.reason ?? '',
    targetOf(event),
    event.involvedObject.fieldPath ?? '',
    sourceOf(event),
    (event.message ?? '').trim(),
    firstSeen,
    count,
    event.metadata.name,
  ];
}

function occurrences(
  event: EventView,
  nowMs: number,
): { readonly firstSeen: string; readonly lastSeen: string; readonly count: number } {
  const firstSeen = timeSince(event.firstTimestamp ?? event.eventTime, nowMs);
  if (event.series !== undefined) {
    const lastSeen = timeSince(event.series.lastObservedTime, nowMs);
    return { firstSeen, lastSeen, count: event.series.count ?? 0 };
  }
  const last = event.lastTimestamp ?? undefined;
  const lastSeen = last === undefined ? firstSeen : timeSince(last, nowMs);
  const { count = 0 } = event;
  return { firstSeen, lastSeen, count: count === 0 ? 1 : count };
}

function targetOf({ involvedObject: { kind = '', name = '' } }: EventView): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`;
}

function sourceOf({ source, reportingComponent, reportingInstance }: EventView): string {
  const component = firstSet(source?.component, reportingComponent);
  const instance = firstSet(source?.host, reportingInstance);
  return instance === '' ? component : `${component}, ${instance}`;
}

function firstSet(...texts: readonly (string | undefined)[]): string {
  return texts.find((text) => text !== undefined && text !== '') ?? '';
}

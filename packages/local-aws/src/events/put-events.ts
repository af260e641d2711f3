// PutEvents as EventBridge judges it: each entry by itself, and what is delivered of those that are taken. Pure.
//
// A request is refused whole for its number of entries and its size; an entry for what is missing or wrong in it, beside others that are
// taken. What rules, archives and schedules do with events is not here: whoever reads the bus gets the envelope that a target would.
import { isJsonObject } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';

/** An event as a target of a rule gets it. */
export interface DeliveredEvent {
  readonly version: '0';
  readonly id: string;
  readonly 'detail-type': string;
  readonly source: string;
  readonly account: string;
  /** Whole seconds. */
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: JsonObject;
}

/** What became of one entry. */
export type EntryResult =
  { readonly EventId: string } | { readonly ErrorCode: string; readonly ErrorMessage: string };

/** What becomes of a request. */
export type PutJudgement =
  | {
      readonly kind: 'judged';
      readonly results: readonly EntryResult[];
      /** By the name of their bus. */
      readonly events: readonly { readonly bus: string; readonly event: DeliveredEvent }[];
    }
  | { readonly kind: 'refused'; readonly type: string; readonly message: string };

/** Where and when a request arrives. */
export interface PutPlace {
  readonly account: string;
  readonly region: string;
  readonly nowMs: number;
  readonly newId: () => string;
}

const ENTRIES_MAX = 10;
const REQUEST_BYTES_MAX = 262_144;

/** The entries of a request; undefined: it has none that can be read. */
export function entriesOf(request: unknown): readonly JsonObject[] | undefined {
  const entries = isJsonObject(request) ? request['Entries'] : undefined;
  return Array.isArray(entries) && entries.every(isJsonObject) ? entries : undefined;
}

/** The bus that an entry names. */
export function busOf({ EventBusName: name }: JsonObject): string {
  if (typeof name !== 'string' || name === '') return 'default';
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Judges a request. */
export function judgePut(entries: readonly JsonObject[], place: PutPlace): PutJudgement {
  const refuse = (message: string): PutJudgement => ({
    ...{ kind: 'refused', type: 'ValidationException' },
    message,
  });
  const { length } = entries;
  if (length === 0 || length > ENTRIES_MAX) {
    return refuse(
      `1 validation error detected: Value '${String(length)}' at 'entries' failed to satisfy constraint: Member must have length between 1 and ${String(ENTRIES_MAX)}`,
    );
  }
  const bytes = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  if (bytes > REQUEST_BYTES_MAX) {
    return refuse('Total size of the entries in the request is over the limit.');
  }
  const judged = entries.map((entry) => ({ bus: busOf(entry), result: judgeEntry(entry, place) }));
  return {
    kind: 'judged',
    results: judged.map(({ result }) =>
      'event' in result ? { EventId: result.event.id } : result,
    ),
    events: judged.flatMap(({ bus, result }) =>
      'event' in result ? [{ bus, event: result.event }] : [],
    ),
  };
}

function sizeOf(entry: JsonObject): number {
  const texts = ['Source', 'DetailType', 'Detail'].map((name) => entry[name]);
  const around = entry['Time'] === undefined ? 0 : 14;
  return texts.reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? Buffer.byteLength(text) : 0),
    around,
  );
}

type Judged =
  | { readonly event: DeliveredEvent }
  | { readonly ErrorCode: string; readonly ErrorMessage: string };

function judgeEntry(entry: JsonObject, place: PutPlace): Judged {
  const refuse = (ErrorCode: string, ErrorMessage: string): Judged => ({ ErrorCode, ErrorMessage });
  const [source, type, text] = ['Source', 'DetailType', 'Detail'].map((name) => entry[name]);
  if (!isText(source) || !isText(type) || !isText(text)) {
    return refuse('InvalidArgument', 'Source, DetailType and Detail are required arguments.');
  }
  if (source.startsWith('aws.')) {
    return refuse('NotAuthorizedForSourceException', 'Not authorized for the source.');
  }
  const detail = detailOf(text);
  if (detail === undefined) return refuse('MalformedDetail', 'Detail is malformed.');
  const { Resources, Time } = entry;
  return {
    event: {
      version: '0',
      id: place.newId(),
      'detail-type': type,
      source,
      account: place.account,
      time: timeOf(Time, place.nowMs),
      region: place.region,
      resources: Array.isArray(Resources) ? Resources.filter(isText) : [],
      detail,
    },
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function detailOf(text: string): JsonObject | undefined {
  try {
    const detail: unknown = JSON.parse(text);
    return isJsonObject(detail) ? detail : undefined;
  } catch {
    // What is no JSON is told as MalformedDetail.
    return undefined;
  }
}

function timeOf(seconds: unknown, nowMs: number): string {
  const atMs = typeof seconds === 'number' ? seconds * 1000 : nowMs;
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

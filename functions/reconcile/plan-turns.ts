/**
 * Who of a batch of hints gets a turn, and in which order. Pure.
 *
 * Hints of one key in one group are one turn: a run that begins after all of them were received looks at what each of
 * them told of. A turn that says `due` for one of them says it for all, because that one's timer is gone (protocol 12).
 * Groups are lanes: side by side, and in order inside (queue-ids.ts). A record that was received again and again
 * may be what stopped its process, so its turn is taken alone, after the others, in another order each time (L4).
 */
import { createHash } from 'node:crypto';
import type { SQSRecord } from 'aws-lambda';
import { parseHint } from '../../src/adapters/sqs/schema/hint-codec.ts';
import type { RefusedBody } from '../../src/adapters/sqs/schema/refused-body.ts';
import { formatKey } from '../../src/core/model/identifiers.ts';
import type { Hint } from '../../src/core/model/hint.ts';

/** Received this often without an end: its process may have ended because of it. */
export const WARY_RECEIVES_MIN = 3;

/** A key's turn: one hint that stands for all of its records. */
export interface Turn {
  readonly hint: Hint;
  /** The one that Lambda hears of; with a failure of it, all of them failed. */
  readonly record: SQSRecord;
  /** All that this turn is for, the first one among them. */
  readonly records: readonly SQSRecord[];
}

export interface Turns {
  /** Side by side; the turns of one after each other. */
  readonly lanes: readonly (readonly Turn[])[];
  /** One after the other, alone. */
  readonly wary: readonly Turn[];
  readonly refused: readonly { readonly record: SQSRecord; readonly refusal: RefusedBody }[];
}

/** Arranges the records of a batch, in the order in which they came. */
export function planTurns(records: readonly SQSRecord[]): Turns {
  const refused: { record: SQSRecord; refusal: RefusedBody }[] = [];
  const lanes = new Map<string, Map<string, Turn>>();
  for (const record of records) {
    const parsed = parseHint(record.body);
    if (parsed.kind === 'refused') {
      refused.push({ record, refusal: parsed });
      continue;
    }
    const { hint } = parsed;
    const group = record.attributes.MessageGroupId ?? '';
    const lane = lanes.get(group) ?? new Map<string, Turn>();
    lanes.set(group, lane);
    const id = `${formatKey(hint.key)} ${hint.clusterUid}`;
    lane.set(id, join(lane.get(id), { hint, record }));
  }
  const inLanes = [...lanes.values()].map((lane) => [...lane.values()]);
  return {
    lanes: inLanes
      .map((turns) => turns.filter((turn) => !isWary(turn)))
      .filter(({ length }) => length > 0),
    wary: inOtherOrder(inLanes.flat().filter(isWary)),
    refused,
  };
}

function join(turn: Turn | undefined, next: Pick<Turn, 'hint' | 'record'>): Turn {
  if (turn === undefined) return { ...next, records: [next.record] };
  const isDue = turn.hint.reason === 'due';
  return { ...turn, hint: isDue ? turn.hint : next.hint, records: [...turn.records, next.record] };
}

function isWary({ records }: Turn): boolean {
  return records.some((record) => receivesOf(record) >= WARY_RECEIVES_MIN);
}

function receivesOf({ attributes }: SQSRecord): number {
  return Number(attributes.ApproximateReceiveCount);
}

/** By a digest that the count of receives moves: nobody stands behind the same poison each time. */
function inOtherOrder(turns: readonly Turn[]): readonly Turn[] {
  const rank = ({ record }: Turn): string =>
    createHash('sha256')
      .update(`${record.messageId}/${receivesOf(record)}`)
      .digest('hex');
  return turns
    .map((turn) => ({ turn, rank: rank(turn) }))
    .sort((left, right) => (left.rank < right.rank ? -1 : 1))
    .map(({ turn }) => turn);
}

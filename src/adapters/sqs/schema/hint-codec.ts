/**
 * Codec of reconcile.fifo (hints) and of the delay queue (timers): small plain JSON.
 *
 * Parsing never throws; schemas are closed and bounded. A hint only says *look again*: even a forged
 * one could cause no more than a look (design 1).
 */
import * as v from 'valibot';
import { HINT_SCHEMA, type Hint, type Timer } from '../../../core/model/hint.ts';
import {
  clusterIdSchema,
  countSchema,
  namespaceSchema,
  objectNameSchema,
  timeSchema,
  tokenSchema,
  uidSchema,
} from './field-schemas.ts';
import { parseSmallBody, type RefusedBody } from './refused-body.ts';

export type ParsedHint = { readonly kind: 'hint'; readonly hint: Hint } | RefusedBody;

export type ParsedTimer = { readonly kind: 'timer'; readonly timer: Timer } | RefusedBody;

const BODY_LENGTH_MAX = 8192;
const HOPS_MAX = 1_000_000;

const hintSchema = v.strictObject({
  schema: v.literal(HINT_SCHEMA),
  key: v.strictObject({
    cluster: clusterIdSchema,
    namespace: namespaceSchema,
    name: objectNameSchema,
  }),
  clusterUid: uidSchema,
  reason: v.picklist(['changed', 'snapshot', 'due', 'retry', 'resync', 'manual']),
});

const timerSchema = v.strictObject({
  schema: v.literal(HINT_SCHEMA),
  hint: hintSchema,
  timerId: tokenSchema,
  dueAtMs: timeSchema,
  hops: countSchema({ min: 0, max: HOPS_MAX }),
});

/** Body of a hint. */
export function encodeHint(hint: Hint): string {
  return JSON.stringify(hint);
}

/** Body of a timer. */
export function encodeTimer(timer: Timer): string {
  return JSON.stringify(timer);
}

/** Parses a body of reconcile.fifo. Never throws. */
export function parseHint(body: string): ParsedHint {
  const parsed = parseSmallBody(hintSchema, body, BODY_LENGTH_MAX);
  if (parsed.kind === 'refused') return parsed;
  return { kind: 'hint', hint: parsed.output as unknown as Hint }; // parsed; brands are the compiler's
}

/** Parses a body of the delay queue. Never throws. */
export function parseTimer(body: string): ParsedTimer {
  const parsed = parseSmallBody(timerSchema, body, BODY_LENGTH_MAX);
  if (parsed.kind === 'refused') return parsed;
  return { kind: 'timer', timer: parsed.output as unknown as Timer }; // as above
}

/**
 * `reconcile`: one reconcile for one key (design 3). Batch size is 1, so a key waits for no other.
 *
 * A result is always acknowledged: whatever must be looked at again has its timer already. Only a
 * bug or a lost dependency leaves the hint to its redelivery, and in the end to the dead letters. A hint
 * that shares its group with other keys (queue-ids.ts) leaves it first: poison stays by itself (L4).
 */
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { parseHint } from '../../src/adapters/sqs/schema/hint-codec.ts';
import { defaultReconcileOptions } from '../../src/app/reconcile/process/dependencies.ts';
import { reconcileKey } from '../../src/app/reconcile/reconcile-key.ts';
import { reportedConnector } from '../../src/app/isolation/reported-access.ts';
import { composition } from '../composition.ts';
import { makeKmsSeal } from '../kms-seal.ts';
import { createHandler } from '../middleware.ts';
import type { HandlerContext } from '../middleware.ts';
import { handleRecords } from '../records.ts';
import { refuseRecord } from '../refusal.ts';
import { RELEASE } from '../release.ts';
import { leaveLane } from './leave-lane.ts';

/** The Lambda handler of reconcile.fifo. */
export const handler = createHandler<SQSEvent, SQSBatchResponse>({
  name: 'reconcile',
  makeSeal: makeKmsSeal,
  connects: 'act',
  handle: (event, context) =>
    handleRecords(event, {
      order: 'fifo',
      context,
      handle: (record) => handleRecord(record, context),
    }),
});

async function handleRecord(record: SQSRecord, context: HandlerContext): Promise<void> {
  const parsed = parseHint(record.body);
  if (parsed.kind === 'refused') {
    await refuseRecord({ queue: 'reconcile', record, refusal: parsed, context });
    return;
  }
  const { registry, view, connector, queue, clock, random, reconcileWarmth } = composition(context);
  const { signal, remainingMs, log, metrics } = context;
  const { cluster, namespace, name } = parsed.hint.key;
  const reconciled = reconcileKey(
    parsed.hint,
    { deadlineMs: clock.monotonicMs() + remainingMs(), signal },
    {
      registry,
      view,
      connector: reportedConnector(connector, { log, metrics }),
      queue,
      clock,
      random,
      log: log.with({ cluster, namespace, name }),
      metrics,
      options: { ...defaultReconcileOptions, release: RELEASE },
      warmth: reconcileWarmth,
    },
  );
  const { hint } = parsed;
  await reconciled.catch((error: unknown) => leaveLane({ record, hint, error, queue, log }));
}

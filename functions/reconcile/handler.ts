/**
 * `reconcile`: one reconcile for one key (design 3). Batch size is 1, so a key waits for no other.
 *
 * A result is always acknowledged: whatever must be looked at again has its timer already. Only a
 * bug or a lost dependency leaves the hint to its redelivery, and in the end to the dead letters.
 */
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { parseHint } from '../../src/adapters/sqs/hint-codec.ts';
import { defaultReconcileOptions } from '../../src/app/reconcile/dependencies.ts';
import { reconcileKey } from '../../src/app/reconcile/reconcile-key.ts';
import { composition } from '../composition.ts';
import { createHandler } from '../middleware.ts';
import type { HandlerContext } from '../middleware.ts';
import { refuseRecord } from '../refusal.ts';
import { RELEASE } from '../release.ts';

/** The Lambda handler of reconcile.fifo. */
export const handler = createHandler<SQSEvent, SQSBatchResponse>({
  name: 'reconcile',
  handle: async (event, context) => {
    const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
    for (const record of event.Records) {
      const isFinished = batchItemFailures.length === 0 && (await handleRecord(record, context));
      if (!isFinished) batchItemFailures.push({ itemIdentifier: record.messageId });
    }
    return { batchItemFailures };
  },
});

async function handleRecord(record: SQSRecord, context: HandlerContext): Promise<boolean> {
  const { registry, view, connector, queue, clock, random, reconcileWarmth } = composition();
  const { signal, remainingMs, log, metrics } = context;
  const parsed = parseHint(record.body);
  if (parsed.kind === 'refused') {
    await refuseRecord({ queue: 'reconcile', record, refusal: parsed, context });
    return true;
  }
  const { hint } = parsed;
  const { cluster, namespace, name } = hint.key;
  try {
    await reconcileKey(
      hint,
      { deadlineMs: clock.monotonicMs() + remainingMs(), signal },
      {
        registry,
        view,
        connector,
        queue,
        clock,
        random,
        log: log.with({ cluster, namespace, name }),
        metrics,
        options: { ...defaultReconcileOptions, release: RELEASE },
        warmth: reconcileWarmth,
      },
    );
    return true;
  } catch (error) {
    metrics.count('reconcile_failures');
    log.error('reconcile failed and will be redelivered', { cluster, namespace, name }, error);
    return false;
  }
}

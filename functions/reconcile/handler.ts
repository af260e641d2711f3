/**
 * `reconcile`: one reconcile for each key of a batch of hints (design 3); how a batch is taken: take-batch.ts.
 *
 * A result is always acknowledged: whatever must be looked at again has its timer already. Only a
 * bug or a lost dependency leaves the hint to its redelivery, and in the end to the dead letters. A hint
 * that shares its group with other keys (queue-ids.ts) leaves it first: poison stays by itself (L4).
 */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { createPolicyReader } from '../../src/adapters/policy/policy-reader.ts';
import { reportedConnector } from '../../src/app/isolation/reported-access.ts';
import { defaultReconcileOptions } from '../../src/app/reconcile/process/dependencies.ts';
import { reconcileKey } from '../../src/app/reconcile/reconcile-key.ts';
import type { ReconcileResult } from '../../src/app/reconcile/run/result.ts';
import type { Hint } from '../../src/core/model/hint.ts';
import { composition } from '../composition.ts';
import { makeKmsSeal } from '../kms-seal.ts';
import { createHandler, type HandlerContext } from '../middleware.ts';
import { refuseRecord } from '../records.ts';
import { RELEASE } from '../release.ts';
import { takeBatch, type BesideRun } from './take-batch.ts';

/** Here and not in composition.ts: no other function reads policies, so no other bundle holds a YAML parser. */
const policies = createPolicyReader();

/** The Lambda handler of reconcile.fifo. */
export const handler = createHandler<SQSEvent, SQSBatchResponse>({
  name: 'reconcile',
  makeSeal: makeKmsSeal,
  connects: 'act',
  handle: (event, context) => {
    const { clock, queue, receipts } = composition(context);
    return takeBatch(event, {
      ...{ context, clock, queue, receipts },
      refuse: (record, refusal) => {
        refuseRecord({ queue: 'reconcile', record, refusal, context });
      },
      run: (hint, beside) => reconcileHint(hint, beside, context),
    });
  },
});

function reconcileHint(
  hint: Hint,
  { aside, queue }: BesideRun,
  context: HandlerContext,
): Promise<ReconcileResult> {
  const { registry, freezes, view, connector, clock, random, processCache } = composition(context);
  const { signal, remainingMs, log, metrics } = context;
  const { cluster, namespace, name } = hint.key;
  return reconcileKey(
    hint,
    { deadlineMs: clock.monotonicMs() + remainingMs(), signal, aside },
    {
      registry,
      freezes,
      view,
      connector: reportedConnector(connector, { log, metrics }),
      queue,
      clock,
      random,
      log: log.with({ cluster, namespace, name }),
      metrics,
      options: { ...defaultReconcileOptions, release: RELEASE },
      cache: processCache,
      policies,
    },
  );
}

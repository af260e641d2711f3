/**
 * Sends the creates of a run in slow-start batches (spec 2.8; design 3, step 7).
 *
 * The first batch stands on the live read that confirmed the DaemonSet just before the intents were
 * recorded; each later one is fenced anew. What was not started is reported as such, so that its
 * intents can be withdrawn.
 *
 * Differs from upstream: a refused pod does not stop the creates of other nodes; a warm process starts
 * with the batch size that a flawless run of the same generation ended with moments ago (process-cache.ts).
 */
import { generationOf } from '../../../core/daemon-set/generation.ts';
import type { CreatePodEffect } from '../../../core/model/effects.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { PlannedCreate } from '../../../core/model/plan.ts';
import { REVISION_HASH_LABEL, revisionHashOfPod } from '../../../core/pod/pod-facts.ts';
import { allowsSurge } from '../../../core/daemon-set/strategy.ts';
import { fenceBatch, type Fence, type FenceAnswer } from '../confirm/batch-fence.ts';
import { NO_OUTCOME, send } from '../run/context.ts';
import { resolveCreate, type CreateResult } from './create-result.ts';
import { projectLivePod } from '../../../core/projections/project.ts';
import type { PaceKey } from '../process/process-cache.ts';

export interface CreateExecution {
  readonly results: readonly { readonly planned: PlannedCreate; readonly result: CreateResult }[];
  readonly notStarted: readonly PlannedCreate[];
  /** Why not all were started. */
  readonly stopped?:
    | { readonly kind: 'fenced'; readonly answer: Extract<FenceAnswer, { kind: 'stop' }> }
    | { readonly kind: 'closed' | 'trouble' | 'all-refused' };
}

type Stop = NonNullable<CreateExecution['stopped']>;

/** Sends batches until all are sent or something says stop. */
export async function executeCreates(
  creates: readonly PlannedCreate[],
  fence: Fence,
): Promise<CreateExecution> {
  const results: { planned: PlannedCreate; result: CreateResult }[] = [];
  const { options, cache, clock } = fence.context.dependencies;
  const paceKey = paceKeyOf(fence);
  const batchSize = cache.paces.firstBatchSize(paceKey, clock.monotonicMs());
  let pace: SlowStart = { ...SLOW_START, batchSize: Math.min(batchSize, options.burstPodsMax) };
  let next = 0;
  let stopped: Stop | undefined;
  while (next < creates.length && stopped === undefined) {
    stopped = await findFence(fence, { isFirst: next === 0 });
    if (stopped !== undefined) break;
    const batch = creates.slice(next, next + pace.batchSize);
    next += batch.length;
    const answers = await sendBatch(batch, fence);
    for (const [index, planned] of batch.entries()) {
      const result = answers[index] ?? { kind: 'open', message: 'no answer' };
      results.push({ planned, result });
    }
    if (answers.some(({ kind }) => kind === 'closed')) stopped = { kind: 'closed' };
    const decision = continueSlowStart(pace, tally(answers), options.burstPodsMax);
    if (decision.kind === 'continue') pace = decision.next;
    else stopped ??= { kind: decision.reason };
  }
  const notStarted = creates.slice(next);
  // A name that a pod of ours still bears, or just bore, is no failure of the API server (A.0).
  const isFlawless =
    isStoppedByOurs(stopped) &&
    results.every(({ result: { kind } }) => ['created', 'waiting', 'withheld'].includes(kind));
  cache.paces.note(paceKey, isFlawless ? pace.batchSize : undefined, clock.monotonicMs());
  return stopped === undefined ? { results, notStarted } : { results, notStarted, stopped };
}

/** Another run, a freeze or the end of the time says nothing of how the API server fares: the pace is kept. */
function isStoppedByOurs(stopped: Stop | undefined): boolean {
  if (stopped?.kind !== 'fenced') return stopped === undefined;
  return ['lost-race', 'interrupted'].includes(stopped.answer.code);
}

function paceKeyOf({ input }: Fence): PaceKey {
  const { clusterUid, uid } = input.stored.ref;
  return { clusterUid, uid, generation: generationOf(input.daemonSet) };
}

async function findFence(
  fence: Fence,
  batch: { readonly isFirst: boolean },
): Promise<Stop | undefined> {
  const answer = await fenceBatch(fence, { ...batch, isCreating: true });
  return answer.kind === 'go' ? undefined : { kind: 'fenced', answer };
}

/**
 * A successor is sent only while a live read finds its predecessor under the former name: then no
 * request for that name can have made a pod (row 86). Nor while that one is the node's pod again, as
 * an etcd that went back can make it (row 71); with surge, one of another revision is no obstacle: a
 * create that was re-issued after a rollback left it under this revision's name. The others of the
 * batch do not wait for it.
 */
async function sendBatch(
  batch: readonly PlannedCreate[],
  fence: Fence,
): Promise<readonly CreateResult[]> {
  const isFree = await Promise.all(batch.map((planned) => mayFollow(planned, fence)));
  const sendable = batch.filter((_planned, index) => isFree[index]);
  const sent = await sendCreates(sendable, fence);
  let next = 0;
  return batch.map((_planned, index): CreateResult => {
    if (isFree[index] !== true) return { kind: 'withheld' };
    const result = sent[next] ?? { kind: 'open', message: 'no answer' };
    next += 1;
    return result;
  });
}

async function mayFollow(
  { predecessor, node, body }: PlannedCreate,
  { context, input, access }: Fence,
): Promise<boolean> {
  if (predecessor === undefined) return true;
  const { namespace } = context.hint.key;
  const live = await access.getPod({ namespace, name: predecessor.name });
  if (live.kind !== 'found' || live.object.metadata.uid !== predecessor.uid) return false;
  const pod = projectLivePod(live.object);
  const isBeside = pod.isTerminating || revisionHashOfPod(pod) !== hashOfBody(body);
  const isOver =
    (isBeside && allowsSurge(input.daemonSet)) ||
    pod.phase === 'Failed' ||
    pod.phase === 'Succeeded';
  return isOver || pod.ownerUid !== input.stored.ref.uid || pod.targetNode !== node;
}

function hashOfBody(body: JsonObject): string | undefined {
  const { labels } = body['metadata'] as { readonly labels?: Readonly<Record<string, string>> };
  return labels?.[REVISION_HASH_LABEL];
}

async function sendCreates(
  batch: readonly PlannedCreate[],
  fence: Fence,
): Promise<readonly CreateResult[]> {
  if (batch.length === 0) return [];
  const { context, input, access } = fence;
  const { namespace } = context.hint.key;
  const effects = batch.map(({ node, name, body }): CreatePodEffect => ({
    kind: 'create-pod',
    namespace,
    name,
    node,
    body,
  }));
  const outcomes = await send(effects, fence);
  const { selector } = input.daemonSet.spec;
  const owner = { namespace, uid: input.stored.ref.uid, selector };
  return Promise.all(
    batch.map((planned, index) => {
      const outcome = outcomes[index] ?? NO_OUTCOME;
      return resolveCreate(planned, outcome, { reader: access, owner });
    }),
  );
}

function tally(answers: readonly CreateResult[]): {
  done: number;
  refused: number;
  trouble: number;
} {
  const count = (...kinds: readonly CreateResult['kind'][]): number =>
    answers.filter(({ kind }) => kinds.includes(kind)).length;
  return {
    done: count('created', 'waiting', 'withheld'),
    refused: count('refused'),
    trouble: count('unsent', 'open'),
  };
}

/** Refusals in a row after which the run stops trying other nodes. */
export const REFUSALS_IN_A_ROW_MAX = 16;

export interface SlowStart {
  readonly batchSize: number;
  readonly refusedInARow: number;
}

export interface BatchTally {
  readonly done: number;
  readonly refused: number;
  /** Unsent, ambiguous, or otherwise without a certain answer. */
  readonly trouble: number;
}

/** The first batch has one create. */
export const SLOW_START: SlowStart = { batchSize: 1, refusedInARow: 0 };

export type SlowStartDecision =
  | { readonly kind: 'continue'; readonly next: SlowStart }
  | { readonly kind: 'stop'; readonly reason: 'trouble' | 'all-refused' };

/**
 * How many creates the next batch has. Batches double from one while they succeed, so a systematic failure costs few
 * requests. Trouble stops after its batch, as upstream does. A refusal belongs to its node: others go on beside it,
 * but a row of refusals without one success in between is systematic too.
 */
export function continueSlowStart(
  current: SlowStart,
  tally: BatchTally,
  batchPodsMax: number,
): SlowStartDecision {
  if (tally.trouble > 0) return { kind: 'stop', reason: 'trouble' };
  const refusedInARow = tally.done > 0 ? 0 : current.refusedInARow + tally.refused;
  if (refusedInARow >= REFUSALS_IN_A_ROW_MAX) return { kind: 'stop', reason: 'all-refused' };
  const batchSize =
    tally.done > 0 ? Math.min(current.batchSize * 2, batchPodsMax) : current.batchSize;
  return { kind: 'continue', next: { batchSize, refusedInARow } };
}

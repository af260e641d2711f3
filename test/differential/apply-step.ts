/**
 * Applies one step to one cluster, as a user, a kubelet or an operator would.
 *
 * The answer says what came of it, so that the two clusters can be compared in that too. A refusal by the
 * API server is an answer, not a failure.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '../conformance/control-plane/api.ts';
import { applyAdmission } from './admission.ts';
import { applyNodeStep } from './apply-node-step.ts';
import { applyPodStep } from './apply-pod-step.ts';
import { applySetStep } from './apply-set-step.ts';
import { writeAll } from './write-all.ts';
import type { Operation } from './scenario.ts';
import type { StepOutcome, StepTarget } from './step-target.ts';

/** Steps after which a node may have two pods, of which the older one counts. */
const AGEING_OPERATIONS: ReadonlySet<string> = new Set([
  'set-create',
  'set-edit',
  'set-undo',
  'set-remake',
  'set-apply',
  'set-flip',
  'set-writers',
  'set-replace',
  'pod-release',
  'pod-strip',
  'pod-orphan',
]);
const AGE_MS = 1100;

/** Applies the step; resolves when the API server has taken it. */
export async function applyStep(target: StepTarget, step: Operation): Promise<StepOutcome> {
  try {
    if (AGEING_OPERATIONS.has(step.op)) await waitUntilPodsAged(target);
    return await dispatch(target, step);
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.reason}`;
    throw error;
  }
}

/** creationTimestamp has whole seconds: two pods of one second are told apart by random names. */
async function waitUntilPodsAged({ side, place }: StepTarget): Promise<void> {
  const bornMs = side.mirror
    .at(place)
    .pods.map((it) => Date.parse(it.metadata.creationTimestamp ?? ''));
  const restMs = Math.max(0, ...bornMs) + AGE_MS - Date.now();
  if (restMs > 0) await delay(restMs);
}

function dispatch(target: StepTarget, step: Operation): Promise<StepOutcome> {
  if (step.op === 'admission') return applyAdmission(target, step.refusedNodes);
  if (isOf('set', step)) return applySetStep(target, step);
  if (isOf('pod', step)) return applyPodStep(target, step);
  if (isOf('all', step)) return writeAll(target, step.op);
  return applyNodeStep(target, step);
}

function isOf<Subject extends 'set' | 'pod' | 'all'>(
  subject: Subject,
  step: Operation,
): step is Extract<Operation, { readonly op: `${Subject}-${string}` }> {
  return step.op.startsWith(`${subject}-`);
}

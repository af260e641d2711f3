/**
 * One attempt at a reconcile: the steps of design 3 in their order.
 *
 *   load ──▶ plan ⇄ needs ──▶ confirm ──▶ record intents ──▶ execute ──▶ tell ──▶ record outcomes (finish/end-run.ts)
 *
 * Every branch that cannot go on says how the run ends (run/exit.ts).
 */
import type { Plan } from '../../core/model/plan.ts';
import type { DaemonSetState } from '../../core/model/state.ts';
import { keepCopy } from './admission/keep-copy.ts';
import { actOnPlan, hasPodWork, type ActResult } from './execute/act.ts';
import { restoreTemplate } from './execute/restore-template.ts';
import { removeStartUpTaints } from './execute/remove-start-up-taints.ts';
import { noteFormer } from './history/former.ts';
import { trimHistory } from './history/trim-history.ts';
import { loadInput } from './load-input.ts';
import { provide } from './needs.ts';
import { hasClusterWork, planStep, type Effects } from './plan-step.ts';
import type { NotedStep, ReconcileInput, RunContext } from './run/context.ts';
import type { Exit } from './run/exit.ts';
import { RunResult } from './run/result.ts';
import {
  giveNotStagedNotice,
  giveRivalNotice,
  giveRemovalNotice,
  noteStages,
} from './status/notices.ts';
import { updateStatus } from './status/update-status.ts';

/** One for each kind of need. */
const NEEDS_MAX = 4;

export async function attemptReconcile(context: RunContext): Promise<Exit> {
  const loaded = await loadInput(context);
  if (loaded.kind !== 'loaded') return loaded;
  let { input } = loaded;
  for (let asked = 0; asked <= NEEDS_MAX; asked += 1) {
    const step = planStep(input, context);
    if (step.kind === 'effects') return carryOut(step, { ...input, isLive: step.isLive }, context);
    if (step.kind !== 'need') return { ...step, input };
    const provided = await provide(step.need, input, context);
    if (provided.kind !== 'provided') return provided;
    ({ input } = provided);
  }
  throw new Error('a plan needed something that it was given before');
}

function hasRequests({ plan }: Effects): boolean {
  const isKeeping = plan.restores !== undefined || plan.copy !== undefined;
  return hasClusterWork(plan) || plan.stageEvents.length > 0 || isKeeping;
}

async function carryOut(
  effects: Effects,
  input: ReconcileInput,
  context: RunContext,
): Promise<Exit> {
  const { plan, guard } = effects;
  const result = new RunResult();
  result.add(effects.problem);
  noteFormer(input, result);
  const needsAccess = guard.kind !== 'observe' && hasRequests(effects);
  const access = needsAccess ? await input.access.get() : undefined;
  if (needsAccess && access === undefined) {
    return { kind: 'unavailable', message: 'no access', input };
  }
  let recorded: DaemonSetState = input.state;
  if (access !== undefined) {
    const step = { context, input, access, result };
    if (guard.kind === 'act' && hasPodWork(plan)) {
      const acted = await actOnPlan(plan, step);
      if (acted.kind !== 'done') return exitUnrecorded(acted, input);
      recorded = acted.state;
    }
    result.events.push(...plan.stageEvents);
    noteStages(plan, context);
    if (context.note.paused === undefined) recorded = await sendRest({ ...step, plan, recorded });
  }
  recorded = await removeStartUpTaints({ context, input, result, recorded });
  const step = { context, input, result, guard };
  const telling = (await giveRivalNotice(step)) ?? (await giveNotStagedNotice(step));
  const told = await giveRemovalNotice(plan, step, access ?? telling);
  return { kind: 'carried-out', input, plan, guard, result, recorded, access: told };
}

/** Writes all but pods: nothing, once another client was found to write the status. */
async function sendRest(
  step: NotedStep & { readonly plan: Plan; readonly recorded: DaemonSetState },
): Promise<DaemonSetState> {
  const { input, plan, result } = step;
  const recorded = await restoreTemplate(step);
  const fence = { ...step, stateVersion: recorded.version };
  await keepCopy(fence);
  await trimHistory(plan.trims, fence);
  if (input.waiting?.isStatusHeld === true) result.isStatusPostponed = true;
  else await updateStatus(step);
  return recorded;
}

/** Intents were not recorded, so nothing was sent. */
function exitUnrecorded(write: Exclude<ActResult, { kind: 'done' }>, input: ReconcileInput): Exit {
  if (write.kind === 'lost') return write;
  const { invariant, message } = write.breach;
  const told = `${invariant}: ${message}`;
  return {
    kind: 'back-off',
    reason: { code: 'invariant', message: told, holdsCreates: true },
    input,
  };
}

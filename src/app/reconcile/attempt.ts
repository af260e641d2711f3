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
import type { ReconcileInput, RunContext } from './run/context.ts';
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
    if (step.kind === 'effects') return carryOut(step, context);
    if (step.kind !== 'need') return step;
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

async function carryOut(effects: Effects, context: RunContext): Promise<Exit> {
  const { input, plan, guard } = effects;
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
    if (guard.kind === 'act' && hasPodWork(plan)) {
      const acted = await actOnPlan(plan, { context, input, access, result });
      if (acted.kind !== 'done') return exitUnrecorded(acted, input);
      recorded = acted.state;
    }
    result.events.push(...plan.stageEvents);
    noteStages(plan, context);
    const sending = { context, input, plan, access, result, recorded };
    if (context.note.paused === undefined) recorded = await sendRest(sending);
  }
  recorded = await removeStartUpTaints({ context, input, result, recorded });
  const step = { context, input, result, guard };
  const telling = (await giveRivalNotice(step)) ?? (await giveNotStagedNotice(step));
  const told = await giveRemovalNotice(plan, { ...step, access: access ?? telling });
  return { kind: 'carried-out', input, plan, guard, result, recorded, access: told };
}

/** Writes all but pods: nothing, once another client was found to write the status. */
async function sendRest(
  planned: Parameters<typeof restoreTemplate>[0] & {
    readonly input: ReconcileInput;
    readonly plan: Plan;
  },
): Promise<DaemonSetState> {
  const recorded = await restoreTemplate(planned);
  const sending = { ...planned, stateVersion: recorded.version };
  await keepCopy(sending);
  await trimHistory(sending.plan.trims, sending);
  if (sending.input.waiting?.isStatusHeld === true) sending.result.isStatusPostponed = true;
  else await updateStatus(sending);
  return recorded;
}

/** Intents were not recorded, so nothing was sent. */
function exitUnrecorded(write: Exclude<ActResult, { kind: 'done' }>, input: ReconcileInput): Exit {
  if (write.kind === 'lost') return write;
  const { invariant, message } = write.breach;
  const reason = {
    code: 'invariant',
    message: `${invariant}: ${message}`,
    holdsCreates: true,
  } as const;
  return { kind: 'back-off', reason, input };
}

/**
 * What a plan may need beside the view, and how each is read: one function for a need, each asked once in an attempt.
 *
 * A read that fails is an answer, too: without the template nodes wait, without Events a cause is not known. History and
 * the list of pods end the run instead.
 */
import { causeOfEvents } from '../../core/health/event-causes.ts';
import type { Uid } from '../../core/model/identifiers.ts';
import type { PodCause, PodProjection } from '../../core/model/projections.ts';
import { tombstonesOfMissing } from '../../core/pod/tombstones.ts';
import { projectLivePod } from '../../core/projections/project.ts';
import { computeView } from '../../core/view/view.ts';
import { markFormer } from './admission/mark-former.ts';
import { judgeByLive } from './confirm/guard.ts';
import { selectorText } from './confirm/live-pods.ts';
import { findHistory } from './history/history.ts';
import { readFormer } from './history/former.ts';
import type { Need } from './plan-step.ts';
import type { Answers, LazyAccess, ReconcileInput, RunContext } from './run/context.ts';
import type { Exit } from './run/exit.ts';

/** The input with what was needed; or the end of the run. */
type Provided = { readonly kind: 'provided'; readonly input: ReconcileInput } | Exit;

export async function provide(
  need: Need,
  input: ReconcileInput,
  context: RunContext,
): Promise<Provided> {
  switch (need.kind) {
    case 'history': {
      const found = await findHistory(input, context);
      if (found.kind === 'ended') return { ...found.end, input: { ...input, state: found.state } };
      const { history } = found;
      const currentHash = history.entry?.hash ?? input.currentHash;
      return withAnswer({ ...input, currentHash }, { history });
    }
    case 'template':
      return withAnswer(input, { template: await readTemplate(need.hash, input) });
    case 'events':
      return withAnswer(input, { events: await readPodCauses(need.pods, input.access) });
    case 'pods':
      return listPods(input, context);
  }
}

function withAnswer(input: ReconcileInput, answer: Answers): Provided {
  return { kind: 'provided', input: { ...input, answers: { ...input.answers, ...answer } } };
}

async function readTemplate(
  hash: string,
  input: ReconcileInput,
): Promise<NonNullable<Answers['template']>> {
  const reader = await input.access.get();
  if (reader === undefined) return { kind: 'missing' };
  const read = await readFormer(hash, input, reader);
  return read.kind === 'found' ? markFormer(read.former, input, reader) : read;
}

/** Whatever the answer is, the rollout halts: a refusal, a limit or silence is a cause that is not known. */
async function readPodCauses(
  pods: readonly PodProjection[],
  access: LazyAccess,
): Promise<readonly PodCause[]> {
  const reader = await access.get();
  return Promise.all(
    pods.map(async ({ namespace, uid }): Promise<PodCause> => {
      const read = await reader?.listPodEvents(namespace, uid);
      return read?.kind === 'found' ? causeOfEvents(read.object) : { kind: 'unreadable' };
    }),
  );
}

/**
 * The pods as one live list has them, for a budget that the view is too old for (S3, protocol 1): all of the selector,
 * without those of others; what it does not show is gone. Intents are judged anew by it, as by single live reads. A list
 * that fails in part is not used.
 */
async function listPods(input: ReconcileInput, context: RunContext): Promise<Provided> {
  const access = await input.access.get();
  if (access === undefined) return { kind: 'unavailable', message: 'no access', input };
  const { namespace, uid, daemonSet } = input.view;
  const listed = await access.listPods(namespace, selectorText(daemonSet.spec.selector));
  if (listed.kind !== 'found') {
    return { kind: 'unavailable', message: 'the pods of the DaemonSet cannot be listed', input };
  }
  const pods = listed.object
    .map(projectLivePod)
    .filter(({ ownerUid }) => ownerUid === uid || ownerUid === undefined);
  // The list was made now: minReadySeconds counts until then.
  const nowMs = context.dependencies.clock.nowMs();
  const { nodes, revisions } = input.read;
  const gone = [...input.view.gone, ...tombstonesOfMissing(input.read.pods, pods, nowMs)];
  const view = computeView({ daemonSet, nodes, pods, gone, revisions, nowMs });
  // By what the slices show: what they do not show yet, the next run does not know either.
  const shown = { ...input.read, pods: input.shown };
  const intents = judgeByLive({ ...input, read: shown }, context, liveByUid(input, pods));
  const read = { ...input.read, pods };
  return withAnswer({ ...input, nowMs, read, view, intents, isLive: true }, { pods: 'listed' });
}

/** Every pod that was listed, and null for each that the view or an intent knows and the list does not. */
function liveByUid(
  input: ReconcileInput,
  pods: readonly PodProjection[],
): Map<Uid, PodProjection | null> {
  const live = new Map<Uid, PodProjection | null>();
  for (const pod of input.read.pods) live.set(pod.uid, null);
  for (const intent of input.state.intents) {
    const wanted = intent.kind === 'delete' ? intent.uid : intent.answer?.uid;
    if (wanted !== undefined) live.set(wanted, null);
  }
  for (const pod of pods) live.set(pod.uid, pod);
  return live;
}

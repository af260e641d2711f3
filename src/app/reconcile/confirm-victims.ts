/**
 * A live read of each pod before it is deleted (design 3, step 5; S3, S4).
 *
 * UID, owner, not terminating, and the reason still holds: then the live resourceVersion becomes the
 * precondition of the delete, so a status change that the watcher's filter dropped cannot make it
 * fail for ever (row 77). A pod goes for its node's absence only after a live 404 of the node. A
 * duplicate goes only while the pod that stays is alive. What cannot be confirmed is not deleted.
 */
import type { DeletePodEffect } from '../../core/model/effects.ts';
import type { NodeName, Uid } from '../../core/model/identifiers.ts';
import type { PlannedDelete, View } from '../../core/model/plan.ts';
import type { PodProjection } from '../../core/model/projections.ts';
import { isTerminal } from '../../core/pod-facts.ts';
import type { ClusterReader } from '../../ports/cluster-access.ts';
import { projectLivePod } from './live-pod.ts';

/** Live reads sent side by side. */
const READS_AT_ONCE = 50;

/** What confirming needs. */
export interface ConfirmContext {
  readonly reader: ClusterReader;
  readonly view: View;
  /** False once the deadline passed: no further read is started. */
  readonly mayContinue: () => boolean;
}

/** A delete that may be sent. */
export interface ConfirmedDelete {
  readonly planned: PlannedDelete;
  readonly effect: DeletePodEffect;
}

/** Victims by what the live reads said. */
export interface VictimConfirmation {
  readonly confirmed: readonly ConfirmedDelete[];
  /** Gone, terminating, re-made, or the reason holds no more: the view will show it. */
  readonly dropped: readonly PlannedDelete[];
  /** Not readable now: look again. */
  readonly unreadable: readonly PlannedDelete[];
}

type Verdict = 'unreadable' | 'dropped' | DeletePodEffect;

/** Reads every victim live. */
export async function confirmVictims(
  deletes: readonly PlannedDelete[],
  context: ConfirmContext,
): Promise<VictimConfirmation> {
  const confirmed: ConfirmedDelete[] = [];
  const dropped: PlannedDelete[] = [];
  const unreadable: PlannedDelete[] = [];
  const confirmer = new VictimConfirmer(deletes, context);
  for (let start = 0; start < deletes.length; start += READS_AT_ONCE) {
    const group = deletes.slice(start, start + READS_AT_ONCE);
    const verdicts = context.mayContinue()
      ? await Promise.all(group.map((planned) => confirmer.confirm(planned)))
      : group.map((): Verdict => 'unreadable');
    for (const [index, planned] of group.entries()) {
      const verdict = verdicts[index] ?? 'unreadable';
      if (verdict === 'unreadable') unreadable.push(planned);
      else if (verdict === 'dropped') dropped.push(planned);
      else confirmed.push({ planned, effect: verdict });
    }
  }
  return { confirmed, dropped, unreadable };
}

/** Remembers which nodes were looked at during one confirmation. */
class VictimConfirmer {
  readonly #context: ConfirmContext;
  readonly #victims: ReadonlySet<Uid>;
  readonly #podsByNode: ReadonlyMap<NodeName, readonly PodProjection[]>;
  readonly #absence = new Map<NodeName, Promise<'absent' | 'present' | 'unreadable'>>();

  constructor(deletes: readonly PlannedDelete[], context: ConfirmContext) {
    this.#context = context;
    this.#victims = new Set(deletes.map(({ uid }) => uid));
    this.#podsByNode = new Map(context.view.nodes.map(({ node, pods }) => [node.name, pods]));
  }

  async confirm(planned: PlannedDelete): Promise<Verdict> {
    const { reader, view } = this.#context;
    const { namespace } = view;
    const live = await reader.getPod({ namespace, name: planned.name });
    if (live.kind === 'unavailable') return 'unreadable';
    if (live.kind === 'missing') return 'dropped';
    const pod = projectLivePod(live.object);
    const isVictim = pod.uid === planned.uid && pod.ownerUid === view.uid && !pod.isTerminating;
    if (!isVictim) return 'dropped';
    const reason = await this.#confirmReason(planned, pod);
    if (reason !== 'holds') return reason;
    return {
      kind: 'delete-pod',
      namespace,
      name: planned.name,
      ...(planned.node === undefined ? {} : { node: planned.node }),
      uid: pod.uid,
      resourceVersion: pod.resourceVersion,
    };
  }

  async #confirmReason(
    planned: PlannedDelete,
    pod: PodProjection,
  ): Promise<'holds' | 'dropped' | 'unreadable'> {
    const holdsIf = (isTrue: boolean): 'holds' | 'dropped' => (isTrue ? 'holds' : 'dropped');
    switch (planned.repeats ?? planned.reason) {
      case 'failed':
        return holdsIf(pod.phase === 'Failed');
      case 'succeeded':
        return holdsIf(pod.phase === 'Succeeded');
      case 'not-wanted':
      case 'outdated':
      case 'replaced':
      case 'vacated':
        return holdsIf(pod.targetNode === planned.node);
      case 'duplicate':
        return this.#confirmKeeper(planned);
      case 'node-gone':
        return this.#confirmAbsence(pod.targetNode ?? planned.node);
      case 'repeat':
        return 'holds';
    }
  }

  async #confirmKeeper(planned: PlannedDelete): Promise<'holds' | 'dropped' | 'unreadable'> {
    const { reader, view } = this.#context;
    const pods = planned.node === undefined ? [] : (this.#podsByNode.get(planned.node) ?? []);
    const keeper = pods.find(
      (pod) => !this.#victims.has(pod.uid) && !pod.isTerminating && !isTerminal(pod),
    );
    if (keeper === undefined) return 'dropped';
    const live = await reader.getPod({ namespace: view.namespace, name: keeper.name });
    if (live.kind === 'unavailable') return 'unreadable';
    if (live.kind === 'missing') return 'dropped';
    const pod = projectLivePod(live.object);
    const isKept = pod.uid === keeper.uid && !pod.isTerminating && !isTerminal(pod);
    return isKept ? 'holds' : 'dropped';
  }

  async #confirmAbsence(node: NodeName | undefined): Promise<'holds' | 'dropped' | 'unreadable'> {
    if (node === undefined) return 'dropped';
    let answer = this.#absence.get(node);
    if (answer === undefined) {
      answer = this.#context.reader.getNode(node).then((live) => {
        if (live.kind === 'unavailable') return 'unreadable';
        return live.kind === 'missing' ? 'absent' : 'present';
      });
      this.#absence.set(node, answer);
    }
    const absence = await answer;
    if (absence === 'unreadable') return 'unreadable';
    return absence === 'absent' ? 'holds' : 'dropped';
  }
}

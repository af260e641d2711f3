/**
 * May a node get its pod now, and under which name (design 3, protocol 4–6, spec faults 86, 88)?
 *
 * One unresolved create name per node: what was recorded and not answered is re-issued under the name
 * it has, whatever name would be chosen today, so that a request still on its way can only meet its
 * own name (S1). A name that a pod is known to have borne is never asked for again (S13): where such a
 * request may still be on its way, the node waits until it is dead. Only then is another name chosen
 * (choose-name.ts); if it follows from a pod that is there, the caller reads that one live first.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { NodeView } from '../model/plan.ts';
import type { CreateIntent } from '../model/state.ts';
import type { NodeCode } from '../model/verdict.ts';
import { bearerOf, chooseName } from './choose-name.ts';
import type { NameChoice } from './choose-name.ts';
import type { Planning } from './planning.ts';
import { resolvedAtMs } from '../pod/request-life.ts';

/** Why nothing is done on a node although something is missing there; becomes its verdict. */
export interface Wait {
  readonly code: NodeCode;
  /** The clause after "Node X: …", for a person. */
  readonly message: string;
  readonly pod?: string;
  readonly untilMs?: number;
}

/** Create under this name, or wait. */
export type CreateDecision =
  | { readonly kind: 'create'; readonly choice: NameChoice }
  | { readonly kind: 'wait'; readonly wait: Wait };

/** Decides about the pod that a node lacks. */
export function decideCreate(planning: Planning, nodeView: NodeView): CreateDecision {
  const blocked = findObstacle(planning, nodeView.node.name);
  if (blocked !== undefined) return { kind: 'wait', wait: blocked };
  return decideName(planning, nodeView);
}

function findObstacle(planning: Planning, node: NodeName): Wait | undefined {
  const { nowMs } = planning.view;
  const unseen = planning.unseenCreates.get(node);
  if (unseen !== undefined) {
    const message = `pod ${unseen.name} was created; waiting for the watcher to report it`;
    return { code: 'Creating', pod: unseen.name, message };
  }
  if (!planning.hasTemplateLabels) {
    return { code: 'Blocked', message: 'the template has no labels, so no pod can be made of it' };
  }
  const refusal = planning.refusals.get(node);
  if (refusal !== undefined && refusal.notBeforeMs > nowMs) {
    const { code, message, notBeforeMs } = refusal;
    const text = `its pod was refused (${code}: ${message}); it is tried again later`;
    return { code: 'Refused', message: text, untilMs: notBeforeMs };
  }
  const { retry } = planning.context.state;
  if (retry?.holdsCreates === true && retry.notBeforeMs > nowMs) {
    const message = `no pod can be created at the moment (${retry.code}); it is tried again later`;
    return { code: 'WaitingForCluster', message, untilMs: retry.notBeforeMs };
  }
  return undefined;
}

function decideName(planning: Planning, nodeView: NodeView): CreateDecision {
  const node = nodeView.node.name;
  const isBorne = ({ name, answer }: CreateIntent): boolean =>
    answer !== undefined || bearerOf(planning, node, name) !== undefined;
  const unresolved = planning.unresolvedCreates.get(node) ?? [];
  const [pending, ...others] = unresolved;
  if (pending !== undefined) {
    const mayRepeat = others.length === 0 && !isBorne(pending);
    if (mayRepeat) return { kind: 'create', choice: { name: pending.name } };
    return waitForResolution(planning, [pending, ...others]);
  }
  // Dead by now, but the view may be older than its last moment: its own name stays the safe one.
  const expired = planning.expiredCreates.get(node)?.find((intent) => !isBorne(intent));
  if (expired !== undefined) return { kind: 'create', choice: { name: expired.name } };
  const choice = chooseName(planning, nodeView);
  const { restrictedUntilMs, wasActedOn } = planning;
  if (restrictedUntilMs === undefined) return { kind: 'create', choice };
  if (choice.predecessor === undefined && !wasActedOn) return { kind: 'create', choice };
  return { kind: 'wait', wait: waitAfterLoss(choice, restrictedUntilMs) };
}

/**
 * The state may have been lost with a create on record that is still on its way. Its name cannot be computed: it may
 * follow from a pod of which nothing is remembered (protocol 6, faults 34, 86).
 */
function waitAfterLoss({ predecessor }: NameChoice, untilMs: number): Wait {
  if (predecessor === undefined) {
    const message =
      'earlier requests may have been forgotten; its pod is created once they are certainly dead';
    return { code: 'WaitingForCluster', message, untilMs };
  }
  const { name: pod } = predecessor;
  const message =
    `pod ${pod} is still there, and earlier requests may have been forgotten; a pod under another ` +
    'name is created once they are certainly dead';
  return { code: 'WaitingForRequest', pod, message, untilMs };
}

/** Two names may be on their way, or a pod has borne the one that is: time decides. */
function waitForResolution(planning: Planning, pending: readonly CreateIntent[]): CreateDecision {
  const { requestTimeoutMs } = planning.context;
  const untilMs = Math.max(...pending.map((intent) => resolvedAtMs(intent, requestTimeoutMs)));
  const names = pending.map(({ name }) => name).join(', ');
  const message =
    `an earlier request to create ${names} may still be on its way; its pod is created once that ` +
    'request is certainly dead';
  return { kind: 'wait', wait: { code: 'WaitingForRequest', message, untilMs } };
}

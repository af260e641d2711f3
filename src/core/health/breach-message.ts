/**
 * What a breach says to people: one sentence, its numbers, and three of its nodes.
 *
 * Words that a status holds are whatever someone wrote there, so only what looks like a reason is repeated; no message of
 * an object is. Length is bounded: names of nodes have 253 characters at most.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { SlowAnswers } from './answer-times.ts';
import { NODES_HALT_AT } from './e-value.ts';
import type { FailureSign } from './failure-words.ts';

const NAMES_MAX = 3;
const PLAIN_WORD = /^[A-Za-z][A-Za-z0-9]{0,62}( -?[0-9]{1,10})?$/;
const PLAIN_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** `node-1, node-2, node-3 and 4 more`. */
export function namesOf(nodes: readonly NodeName[]): string {
  const shown = nodes.slice(0, NAMES_MAX).join(', ');
  return nodes.length > NAMES_MAX ? `${shown} and ${String(nodes.length - NAMES_MAX)} more` : shown;
}

/** Failed nodes of all updated ones, and what one of them said. */
export interface FailureFacts {
  readonly sign: FailureSign;
  readonly nodes: readonly NodeName[];
  readonly updatedNodes: number;
  readonly word: string;
  readonly container?: string;
}

const SAYS: Readonly<Record<FailureSign, string>> = {
  ImagePull: 'cannot get the image of',
  ContainerConfig: 'cannot make the configuration of',
  RuntimeRefused: 'cannot start',
  InitFailed: 'cannot get past',
  NeverStarted: 'did not start in time',
  Unschedulable: 'have no room for the pod',
  PodRefused: 'refuse the pod',
  Crash: 'restarted again and again',
  OOMKilled: 'ran out of memory in',
  NotReady: 'run the pod, which stays not ready',
  NodeLost: 'are not Ready',
  NodeRefused: 'refuse the pod',
  Evicted: 'evicted the pod',
  Rebooted: 'restarted',
};

/** `2 of 16 updated nodes cannot get the image of container agent (ImagePullBackOff): n1, n2`. */
export function failureMessage(facts: FailureFacts): string {
  const { sign, nodes, updatedNodes, word, container } = facts;
  const isNamed = container !== undefined && PLAIN_NAME.test(container);
  const of = isNamed ? ` container ${container}` : ' a container';
  const takesContainer = CONTAINER_SIGNS.has(sign);
  const said = PLAIN_WORD.test(word) ? word : sign;
  const share = `${String(nodes.length)} of ${String(updatedNodes)} updated nodes`;
  return `${share} ${SAYS[sign]}${takesContainer ? of : ''} (${said}): ${namesOf(nodes)}`;
}

const CONTAINER_SIGNS: ReadonlySet<FailureSign> = new Set<FailureSign>([
  'ImagePull',
  'ContainerConfig',
  'RuntimeRefused',
  'InitFailed',
  'OOMKilled',
]);

/** `pods turned not ready 7 times on 2 of 3 updated nodes, so a soak of 600 s cannot pass: n1, n2`. */
export function flappingMessage(facts: {
  readonly turns: number;
  readonly nodes: readonly NodeName[];
  readonly updatedNodes: number;
  readonly soakMs: number;
}): string {
  const { turns, nodes, updatedNodes, soakMs } = facts;
  const where = `${String(nodes.length)} of ${String(updatedNodes)} updated nodes`;
  const soak = `a soak of ${String(Math.round(soakMs / 1000))} s cannot pass`;
  return `pods turned not ready ${String(turns)} times on ${where}, so ${soak}: ${namesOf(nodes)}`;
}

/** Those of one side that failed first there, as far as they are known, of all that are on it now. */
export interface TrialSide {
  readonly failed: readonly { readonly node: NodeName }[];
  readonly nodes: number;
}

/** `3 of 16 updated nodes went bad, 0 of 148 others; E = 433, halts at 25: n1, n2, n3`. */
export function trialMessage(facts: {
  readonly eValue: number;
  readonly updated: TrialSide;
  readonly others: TrialSide;
}): string {
  const countOf = ({ failed, nodes }: TrialSide): string =>
    `${String(failed.length)} of ${String(Math.max(nodes, failed.length))}`;
  const names = facts.updated.failed.map(({ node }) => node).sort(compareText);
  const counts = `${countOf(facts.updated)} updated nodes went bad, ${countOf(facts.others)} others`;
  return `${counts}; E = ${roundedE(facts.eValue)}, halts at ${String(NODES_HALT_AT)}: ${namesOf(names)}`;
}

/** `get pods takes 2400 ms, and took 12 ms before the rollout (in 8 and 12 quarters of a minute)`. */
export function slowMessage(slow: SlowAnswers): string {
  const { kind, beforeMs, sinceMs, beforeCount, sinceCount } = slow;
  const quarters = `in ${String(sinceCount)} and ${String(beforeCount)} quarters of a minute`;
  return `the API server became slow: ${kind} takes ${String(sinceMs)} ms, and took ${String(beforeMs)} ms before (${quarters})`;
}

function roundedE(value: number): string {
  return value >= 1e6 ? 'over a million' : String(Math.round(value));
}

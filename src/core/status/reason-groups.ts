/**
 * Verdicts of one DaemonSet, gathered by reason: what a person reads of thousands of nodes.
 *
 * Nodes are together when they have the same code and the same matter; where no pod belongs, the same reason of placement. The
 * gravest comes first.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { Verdict } from '../model/verdict.ts';
import { REASONS, type Reason, type ReasonCode, type ReasonKind } from './reasons.ts';
import { explainPlacement } from './placement-words.ts';

/** Nodes of one reason. */
export interface ReasonGroup {
  readonly code: ReasonCode;
  readonly kind: ReasonKind;
  readonly title: string;
  /** The trouble, with names: the end of a sentence that begins with the nodes. */
  readonly message: string;
  /** In node order. */
  readonly nodes: readonly NodeName[];
  /** Absent: nothing is to be done. */
  readonly remedy?: string;
}

/** `lacking`: nodes without a serving pod. */
type Asked = 'lacking' | 'all';

const GRAVEST_FIRST: readonly ReasonKind[] = ['failing', 'held', 'coming', 'not-wanted', 'serving'];

/** Gathers verdicts. */
export function groupReasons(
  verdicts: readonly Verdict[],
  asked: Asked = 'lacking',
): readonly ReasonGroup[] {
  const shown = verdicts.filter((one) => asked === 'all' || reasonOf(one).kind !== 'serving');
  const gathered = Map.groupBy(shown, (one) => `${codeOf(one)} ${matterOf(one)}`);
  return [...gathered.values()].map(groupOf).sort(compareGroups);
}

/** The code under which a verdict is told. */
export function codeOf({ code, reason, guard }: Verdict): ReasonCode {
  if (code === 'NotWanted') return reason.code;
  return guard ?? code;
}

function reasonOf(verdict: Verdict): Reason {
  return REASONS[codeOf(verdict)];
}

function groupOf(verdicts: readonly Verdict[]): ReasonGroup {
  const [first] = verdicts;
  if (first === undefined) throw new RangeError('a group has a node');
  const { kind, title, remedy } = reasonOf(first);
  return {
    code: codeOf(first),
    kind,
    title,
    message: verdicts.length === 1 ? withoutNode(first) : matterOf(first),
    nodes: verdicts.map(({ node }) => node),
    ...defined({ remedy: first.remedy ?? remedy }),
  };
}

/** The text that nodes of one group share: no name of a node or of a pod. */
function matterOf(verdict: Verdict): string {
  const { code, reason, matter, pod } = verdict;
  if (matter !== undefined) return matter;
  if (code === 'NotWanted') return explainPlacement(reason);
  const message = withoutNode(verdict);
  const text = pod === undefined ? message : message.replaceAll(pod, '…');
  return text.replaceAll(/\bpod [a-z0-9.]+-[-a-z0-9.]*[a-z0-9]/g, 'pod …');
}

function withoutNode({ node, message }: Verdict): string {
  const subject = `Node ${node} `;
  const text = message.startsWith(subject) ? message.slice(subject.length) : message;
  return text.replace(/\.$/, '');
}

function compareGroups(left: ReasonGroup, right: ReasonGroup): number {
  const graver = GRAVEST_FIRST.indexOf(left.kind) - GRAVEST_FIRST.indexOf(right.kind);
  if (graver !== 0) return graver;
  return right.nodes.length - left.nodes.length || compareText(left.message, right.message);
}

/**
 * Nodes that are older than the bound and have their start-up taint, in words: the same for `rollcall status` and `rollcall why`. Since
 * when an old node has it again is not known, so nothing is said of that.
 */
import { counted } from '@rollcall/base/counted.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { StartUp } from '../model/registration.ts';
import type { StartUpDecision, StartUpWait, StartUpWaitCode } from './start-up-done.ts';
import { START_UP_LABEL, startUpTaintText } from './start-up-taint.ts';

/** One node that is older than the bound, and waits. */
export interface LateNode {
  readonly node: NodeName;
  readonly decision: StartUpDecision;
}

/** All of a cluster. */
export interface LateNodes {
  readonly startUp: StartUp;
  readonly nodes: readonly LateNode[];
  /** Why nothing is removed there, whatever serves: mode or freeze, as a sentence. Absent: it would be. */
  readonly held?: string;
}

const WORDS: Readonly<Record<StartUpWaitCode, string>> = {
  'no-pod': 'has no pod there',
  'not-ready': 'has no ready pod there',
  'older-than-node': 'has a pod there that is older than the node',
  'not-tolerated': 'does not tolerate the taint, so that no pod comes',
  unknown: 'cannot be read now',
};

interface Matter {
  readonly text: string;
  readonly remedy: string;
}

/** A sentence without its full stop, and what to do about what concerns most nodes. */
export function describeLateNodes(cluster: string, late: LateNodes): Matter {
  const { startUp, nodes, held } = late;
  const matters = nodes.flatMap(({ node, decision }) =>
    mattersOf({ cluster, node, startUp }, decision).map((matter) => ({ node, matter })),
  );
  const groups = [...Map.groupBy(matters, ({ matter }) => matter.text).values()].sort(
    (left, right) => right.length - left.length,
  );
  const parts = groups.slice(0, PARTS_MAX).map((group) => {
    const names = group.slice(0, NAMES_MAX).map(({ node }) => node);
    const more = group.length - names.length;
    const all = `${names.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
    return `${group[0]?.matter.text ?? ''} (${all})`;
  });
  const minutes = counted(Math.round(startUp.waitBoundMs / 60_000), 'minute');
  const older = `${counted(nodes.length, 'node')} that joined more than ${minutes} ago`;
  const have = nodes.length === 1 ? 'has' : 'have';
  const text = `${older} ${have} the start-up taint ${startUpTaintText(startUp.taint)}: ${parts.join('; ')}`;
  const [first] = groups[0] ?? [];
  const remedy = first?.matter.remedy ?? doctorOf(cluster);
  if (held === undefined) return { text, remedy };
  return { text: `${text}. Nothing is removed: ${held.replace(/\.$/, '')}`, remedy };
}

const PARTS_MAX = 5;
const NAMES_MAX = 5;

interface Where {
  readonly cluster: string;
  readonly node: NodeName;
  readonly startUp: StartUp;
}

function mattersOf(where: Where, decision: StartUpDecision): readonly Matter[] {
  if (decision.kind === 'done') {
    const text = 'all that counts serves there, and the taint is not removed';
    const { condition } = where.startUp;
    if (condition !== undefined) {
      const remedy = `look whether the Node Readiness Controller runs and has a rule for ${condition}, then: ${doctorOf(where.cluster)}`;
      return [{ text, remedy }];
    }
    return [{ text, remedy: doctorOf(where.cluster) }];
  }
  if (decision.waitsFor.length > 0) return decision.waitsFor.map((wait) => matterOf(wait, where));
  const { key } = where.startUp.taint;
  const label = `label a DaemonSet that belongs there ${START_UP_LABEL}=true`;
  const text = 'no DaemonSet counts there';
  return [{ text, remedy: `${label}, or let such nodes join without the taint ${key}` }];
}

function matterOf({ namespace, name, code }: StartUpWait, { cluster, node }: Where): Matter {
  const set = `${namespace}/${name}`;
  const remedies: Readonly<Record<StartUpWaitCode, string>> = {
    'no-pod': `rollcall why ${set} --cluster ${cluster} --node ${node}`,
    'not-ready': `rollcall why ${set} --cluster ${cluster} --node ${node}`,
    'older-than-node': `delete its pod on ${node}, which comes again: kubectl -n ${namespace} get pods -o wide`,
    'not-tolerated': `add a toleration of the taint to the template of ${set}, or take its label ${START_UP_LABEL} away`,
    unknown: doctorOf(cluster),
  };
  return { text: `${set} ${WORDS[code]}`, remedy: remedies[code] };
}

function doctorOf(cluster: string): string {
  return `rollcall cluster doctor ${cluster}`;
}

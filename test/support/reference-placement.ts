/**
 * Placement written a second time, naively and from the specification alone (spec 2.5, 2.6), so that
 * the two can be held against each other (spec faults 53). It shares no code with src/core, prepares
 * nothing, and gives no reasons. Inputs are those that the arbitraries of core-arbitraries.ts make.
 */
import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodSpec,
  Taint,
  Toleration,
} from '../../src/core/model/kubernetes.ts';
import type { NodeProjection } from '../../src/core/model/projections.ts';

const AUTOMATIC = [
  'not-ready:NoExecute',
  'unreachable:NoExecute',
  'disk-pressure:NoSchedule',
  'memory-pressure:NoSchedule',
  'pid-pressure:NoSchedule',
  'unschedulable:NoSchedule',
];

/** run, keep or leave, as spec 2.5 words it. */
export function referencePlacement(spec: PodSpec, node: NodeProjection): string {
  if (spec.nodeName !== undefined && spec.nodeName !== '' && spec.nodeName !== node.name) {
    return 'leave';
  }
  for (const key of Object.keys(spec.nodeSelector ?? {})) {
    if (node.labels[key] !== spec.nodeSelector?.[key]) return 'leave';
  }
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required !== undefined) {
    const terms = required.nodeSelectorTerms ?? [];
    if (terms.filter((term) => termHolds(term, node)).length === 0) return 'leave';
  }
  const open = node.taints.filter((taint) => !isTolerated(taint, spec));
  if (open.some(({ effect }) => effect === 'NoExecute')) return 'leave';
  return open.some(({ effect }) => effect === 'NoSchedule') ? 'keep' : 'run';
}

function termHolds(term: NodeSelectorTerm, node: NodeProjection): boolean {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  if (expressions.length + fields.length === 0) return false;
  for (const each of expressions) if (!expressionHolds(each, node.labels)) return false;
  for (const each of fields) if (!fieldHolds(each, node.name)) return false;
  // A requirement that cannot be parsed spoils its whole term: both helpers answer false for it.
  return true;
}

function expressionHolds(
  { key, operator, values = [] }: NodeSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[key];
  const isNumber = (text: string | undefined): text is string => /^-?\d+$/.test(text ?? '');
  if (operator === 'In') return values.some((each) => each === value);
  if (operator === 'NotIn') return values.length > 0 && values.every((each) => each !== value);
  if (operator === 'Exists') return values.length === 0 && value !== undefined;
  if (operator === 'DoesNotExist') return values.length === 0 && value === undefined;
  const bound = values[0];
  if (values.length !== 1 || !isNumber(bound) || !isNumber(value)) return false;
  if (operator === 'Gt') return Number(value) > Number(bound);
  return operator === 'Lt' && Number(value) < Number(bound);
}

function fieldHolds(
  { key, operator, values = [] }: NodeSelectorRequirement,
  name: string,
): boolean {
  if (key !== 'metadata.name' || values.length !== 1) return false;
  if (operator === 'In') return values[0] === name;
  return operator === 'NotIn' && values[0] !== name;
}

function isTolerated(taint: Taint, spec: PodSpec): boolean {
  const own = `${taint.key.replace('node.kubernetes.io/', '')}:${taint.effect}`;
  if (taint.key.startsWith('node.kubernetes.io/')) {
    if (AUTOMATIC.includes(own)) return true;
    if (own === 'network-unavailable:NoSchedule' && spec.hostNetwork === true) return true;
  }
  return (spec.tolerations ?? []).some((toleration) => tolerates(toleration, taint));
}

function tolerates(toleration: Toleration, taint: Taint): boolean {
  const isEffect = !toleration.effect || toleration.effect === taint.effect;
  const isKey = !toleration.key || toleration.key === taint.key;
  if (!isEffect || !isKey) return false;
  const wanted = toleration.value ?? '';
  const actual = taint.value ?? '';
  const areNumbers = /^(0|-?[1-9]\d*)$/.test(wanted) && /^(0|-?[1-9]\d*)$/.test(actual);
  if (toleration.operator === 'Exists') return true;
  if (toleration.operator === 'Gt') return areNumbers && Number(actual) > Number(wanted);
  if (toleration.operator === 'Lt') return areNumbers && Number(actual) < Number(wanted);
  if (toleration.operator === 'Equal' || !toleration.operator) return wanted === actual;
  return false;
}

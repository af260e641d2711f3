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
} from '@rollcall/base/objects.ts';
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
  if (!isNamed(spec, node) || !isSelected(spec, node) || !isPreferred(spec, node)) return 'leave';
  const open = node.taints.filter((taint) => !isTolerated(taint, spec));
  if (open.some(({ effect }) => effect === 'NoExecute')) return 'leave';
  return open.some(({ effect }) => effect === 'NoSchedule') ? 'keep' : 'run';
}

function isNamed(spec: PodSpec, node: NodeProjection): boolean {
  return [undefined, '', node.name as string].includes(spec.nodeName);
}

function isSelected(spec: PodSpec, node: NodeProjection): boolean {
  const wanted = spec.nodeSelector ?? {};
  return Object.keys(wanted).every((key) => node.labels[key] === wanted[key]);
}

function isPreferred(spec: PodSpec, node: NodeProjection): boolean {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  return (required.nodeSelectorTerms ?? []).some((term) => termHolds(term, node));
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
  if (operator === 'In') return values.some((each) => each === value);
  if (operator === 'NotIn') return values.length > 0 && values.every((each) => each !== value);
  if (operator === 'Exists') return values.length === 0 && value !== undefined;
  if (operator === 'DoesNotExist') return values.length === 0 && value === undefined;
  return comparesAs(operator, { pattern: /^-?\d+$/, actual: value, wanted: values });
}

/** Gt or Lt between two texts that are numbers of the given form; anything else is false. */
function comparesAs(
  operator: string | undefined,
  sides: {
    readonly pattern: RegExp;
    readonly actual: string | undefined;
    readonly wanted: readonly (string | undefined)[];
  },
): boolean {
  const texts = [sides.actual, ...sides.wanted].map((text) => text ?? '');
  if (texts.length !== 2 || !texts.every((text) => sides.pattern.test(text))) return false;
  const [actual = 0, wanted = 0] = texts.map(Number);
  if (operator === 'Gt') return actual > wanted;
  return operator === 'Lt' && actual < wanted;
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
  const isEffect = [undefined, '', taint.effect as string].includes(toleration.effect);
  const isKey = [undefined, '', taint.key].includes(toleration.key);
  if (!isEffect || !isKey) return false;
  const { operator, value = '' } = toleration;
  const actual = taint.value ?? '';
  if (operator === 'Exists') return true;
  if ([undefined, '', 'Equal'].includes(operator)) return value === actual;
  return comparesAs(operator, { pattern: /^(0|-?[1-9]\d*)$/, actual, wanted: [value] });
}

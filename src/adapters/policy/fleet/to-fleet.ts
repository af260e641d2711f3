/**
 * From a FleetDaemonSet as it was written to one with every default filled in, and what only the whole of it can show to be
 * wrong.
 *
 * Defaults are the careful ones; docs/fleet.md has each, and why. Without stages there are three: one node of each of two
 * clusters, so that none opens the next stage by its word alone, a tenth of the clusters, the rest. A last stage that does not
 * take every cluster is followed by `rest`.
 */
import { isJsonObject, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { cleanManifest } from '../../../core/fleet/clean-manifest.ts';
import type {
  ClusterChoice,
  FleetDaemonSet,
  FleetOverride,
  FleetPlacement,
  FleetProblem,
  FleetStage,
  FleetStrategy,
} from '../../../core/fleet/fleet-daemon-set.ts';
import { judgeManifest } from '../../../core/fleet/judge-manifest.ts';
import { POLICY_ANNOTATION } from '../../../core/policy/rollout-policy.ts';
import type { OrderRule } from '../../../core/policy/rollout-policy.ts';
import { createPolicyReader } from '../policy-reader.ts';
import { toOrder, toWindow } from '../to-policy.ts';
import type { WrittenFleet } from './fleet-schema.ts';
import type { WrittenStage, WrittenStrategy } from './strategy-schema.ts';

const SOAK_DEFAULT_MS = 3_600_000;
/** The stage that takes what no other one did. */
const REST = 'rest';

const DEFAULT_STAGES: readonly WrittenStage[] = [
  { name: 'canary', clusters: { kind: 'count', count: 2 }, nodes: { kind: 'count', count: 1 } },
  { name: 'early', clusters: { kind: 'percent', percent: 10 } },
];

/** A FleetDaemonSet, or what is wrong with it. */
export type ToFleet =
  | { readonly kind: 'fleet'; readonly fleet: FleetDaemonSet }
  | { readonly kind: 'invalid'; readonly problems: readonly FleetProblem[] };

/** Fills in the defaults. `manifest` is the template, wherever it was written; `raw` the document before it was read. */
export function toFleet(
  written: WrittenFleet,
  { raw, manifest }: { readonly raw: JsonObject; readonly manifest: JsonObject },
): ToFleet {
  const { metadata, spec } = written;
  const { placement, overrides = [], strategy = {} } = spec;
  const rollout = jsonMember(jsonMember(raw['spec'], 'strategy'), 'rollout');
  const judged = judgeManifest(cleanManifest(manifest), metadata);
  const problems = [
    ...(judged.kind === 'invalid' ? judged.problems.map(inTemplate) : []),
    ...judgePolicy(manifest, rollout),
    ...judgeNames(overrides, 'spec.overrides'),
    ...judgeStages(strategy),
  ];
  if (problems.length > 0 || judged.kind === 'invalid') return { kind: 'invalid', problems };
  const ownPolicy = policyTextOf(manifest);
  const policyText = JSON.stringify(rollout ?? {});
  const fleet: FleetDaemonSet = {
    ...metadata,
    manifest: judged.manifest,
    placement: toPlacement(placement),
    overrides: overrides.map(toOverride),
    strategy: { ...toStrategy(strategy), ...(ownPolicy === undefined ? { policyText } : {}) },
  };
  return { kind: 'fleet', fleet };
}

function inTemplate({ field, message }: FleetProblem): FleetProblem {
  return { field: `spec.template.${field}`, message };
}

function policyTextOf(manifest: JsonObject): Json | undefined {
  return jsonMember(jsonMember(manifest['metadata'], 'annotations'), POLICY_ANNOTATION);
}

/** The manifest's own policy: one that can be read, and the only one. */
function judgePolicy(manifest: JsonObject, rollout: Json | undefined): readonly FleetProblem[] {
  const text = policyTextOf(manifest);
  if (text === undefined) return [];
  if (rollout !== undefined) {
    const message = `must be absent where the manifest has the annotation ${POLICY_ANNOTATION}`;
    return [{ field: 'spec.strategy.rollout', message }];
  }
  const field = `spec.template.metadata.annotations["${POLICY_ANNOTATION}"]`;
  if (typeof text !== 'string') return [{ field, message: 'must be a text' }];
  const reading = createPolicyReader().read(text);
  if (reading.kind !== 'invalid') return [];
  return reading.problems.map((problem) => ({
    field: problem.field === '' ? field : `${field}: ${problem.field}`,
    message: problem.message,
  }));
}

function judgeNames(named: readonly { readonly name: string }[], field: string): FleetProblem[] {
  const names = named.map(({ name }) => name);
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [{ field: `${field}[${String(index)}].name`, message: 'is given twice' }],
  );
}

const STAGES_FIELD = 'spec.strategy.stages';

function judgeStages({
  stages = [],
  soak,
  progressDeadline,
}: WrittenStrategy): readonly FleetProblem[] {
  const problems = [
    ...judgeNames(stages, STAGES_FIELD),
    ...stages.flatMap((stage, index) => judgeStage(stage, index, stages.length)),
  ];
  const soaksMs = [soak ?? SOAK_DEFAULT_MS, ...stages.map((stage) => stage.soak ?? 0)];
  if (progressDeadline !== undefined && progressDeadline <= Math.max(...soaksMs)) {
    const message = 'must be longer than every soak (1h unless written), or it would be a breach';
    problems.push({ field: 'spec.strategy.progressDeadline', message });
  }
  return problems;
}

function judgeStage(stage: WrittenStage, index: number, stages: number): readonly FleetProblem[] {
  const field = `${STAGES_FIELD}[${String(index)}]`;
  const isLast = index === stages - 1;
  const isAll = takesAll(stage);
  const problems: FleetProblem[] = [];
  if (index > 0 && stage.nodes !== undefined) {
    problems.push({ field: `${field}.nodes`, message: 'may stand in the first stage only' });
  }
  if (!isLast && isAll) {
    const message = 'takes every cluster, so that the stages after it would have none';
    problems.push({ field, message });
  }
  if (stage.name === REST && !(isLast && isAll && stage.nodes === undefined)) {
    const message = `must not be ${REST}: that takes what no other stage takes`;
    problems.push({ field: `${field}.name`, message });
  }
  return problems;
}

function takesAll({ clusterNames, clusterSelector, clusters }: WrittenStage): boolean {
  return clusterNames === undefined && clusterSelector === undefined && clusters === undefined;
}

function toPlacement({
  all,
  exclude,
  ...choice
}: WrittenFleet['spec']['placement']): FleetPlacement {
  return {
    ...(all === true ? {} : { choice: toChoice(choice) }),
    ...(exclude === undefined ? {} : { exclude: toChoice(exclude) }),
  };
}

type WrittenChoice = Pick<WrittenStage, 'clusterNames' | 'clusterSelector'>;

function toChoice({ clusterNames = [], clusterSelector }: WrittenChoice): ClusterChoice {
  return {
    names: clusterNames,
    ...(clusterSelector === undefined ? {} : { selector: clusterSelector }),
  };
}

function choiceOf(written: WrittenChoice): { readonly choice?: ClusterChoice } {
  const { clusterNames, clusterSelector } = written;
  const isChosen = clusterNames !== undefined || clusterSelector !== undefined;
  return isChosen ? { choice: toChoice(written) } : {};
}

type WrittenOverride = NonNullable<WrittenFleet['spec']['overrides']>[number];

function toOverride({
  name,
  strategicMerge,
  jsonPatch,
  ...choice
}: WrittenOverride): FleetOverride {
  return {
    name,
    ...choiceOf(choice),
    ...(strategicMerge === undefined ? {} : { strategicMerge }),
    ...(jsonPatch === undefined ? {} : { jsonPatch }),
  };
}

function toStrategy(written: WrittenStrategy): FleetStrategy {
  const { stages = DEFAULT_STAGES, order = [], onBreach = 'halt', progressDeadline } = written;
  const { conflicts = 'abort', drift = 'report' } = written;
  const last = stages.at(-1);
  // A few nodes of all clusters are no end.
  const isWhole = last !== undefined && takesAll(last) && last.nodes === undefined;
  const all = isWhole ? stages : [...stages, { name: REST }];
  const [first = { name: REST }, ...others] = all;
  const rules: readonly OrderRule[] = toOrder(order);
  return {
    stages: [toStage(first, written), ...others.map((stage) => toStage(stage, written))],
    order: rules,
    onBreach,
    conflicts,
    drift,
    ...(progressDeadline === undefined ? {} : { progressDeadlineMs: progressDeadline }),
  };
}

function toStage(stage: WrittenStage, strategy: WrittenStrategy): FleetStage {
  const { name, clusters, nodes } = stage;
  const pace = { ...strategy, ...stage };
  const maxFailures = pace.maxFailures ?? { kind: 'count', count: 0 };
  return {
    name,
    ...choiceOf(stage),
    ...(clusters === undefined ? {} : { share: clusters }),
    ...(nodes === undefined ? {} : { nodes }),
    maxConcurrency: pace.maxConcurrency ?? { kind: 'percent', percent: 10 },
    maxFailures,
    maxRefusals: pace.maxRefusals ?? maxFailures,
    soakMs: pace.soak ?? SOAK_DEFAULT_MS,
    approval: pace.approval ?? 'none',
    windows: (pace.window ?? []).map(toWindow),
  };
}

/** The manifest of a document that has it inline; what is no object there the schema refused. */
export function inlineManifest(document: JsonObject): JsonObject {
  const template = jsonMember(document['spec'], 'template');
  return isJsonObject(template) ? template : {};
}

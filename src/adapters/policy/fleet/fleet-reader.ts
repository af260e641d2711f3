/**
 * Reads FleetDaemonSets (ports/fleet-reader.ts): text, plain values, schema, and what only the
 * whole shows. A text is a user's: bounded, never a reason to throw, and no value of it is
 * repeated, since manifests hold secrets. It is stored as it was written, so that reading it again
 * means the same.
 */
import { defined } from '@rollcall/base/defined.ts';
import { isJsonObject, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { cleanManifest, judgeManifest } from '../../../core/fleet/judge-manifest.ts';
import type {
  FleetProblem,
  FleetReading,
  FleetStage,
  FleetStrategy,
} from '../../../core/fleet/fleet-daemon-set.ts';
import { POLICY_ANNOTATION, type Share } from '../../../core/policy/rollout-policy.ts';
import { formatShare } from '../../../core/policy/share.ts';
import type { FleetReader, NamedFile } from '../../../ports/fleet-reader.ts';
import { createPolicyReader } from '../policy-reader.ts';
import { readBy, refuse, within } from '../problems.ts';
import { CHARACTERS_MAX, MANIFEST_RULES, TOO_LONG, readManifest } from '../manifest-reader.ts';
import { readYaml } from '../read-yaml.ts';
import { isFields } from '../written-values.ts';
import { choiceOf, fleetSchema } from './fleet-schema.ts';
import type { WrittenFleet, WrittenStage, WrittenStrategy } from './fleet-schema.ts';

const TEMPLATE_FILE = 'spec.templateFile';
const FLEET = { what: 'a FleetDaemonSet', problemsMax: 20 };

/** A reader; it remembers nothing. */
export function createFleetReader(): FleetReader {
  const ofDocument: FleetReader['readDocument'] = (document) => readDocument(document, []);
  return { read, readDocument: ofDocument, limitPolicy, ungatePolicy };
}

function read(text: string, openFile: (name: string) => NamedFile): FleetReading {
  if (text.length > CHARACTERS_MAX) return refuse([{ field: '', message: TOO_LONG }], FLEET);
  const yaml = readYaml(text, MANIFEST_RULES);
  if (yaml.kind === 'invalid') return refuse(yaml.problems, FLEET);
  // Values of YAML are JSON.
  const document = yaml.value as Json;
  const spec = jsonMember(document, 'spec');
  if (!isJsonObject(document) || !isJsonObject(spec)) return readDocument(document, []);
  const { templateFile, ...rest } = spec;
  if (typeof templateFile !== 'string' || 'template' in rest) return readDocument(document, []);
  const file = openFile(templateFile);
  const field = TEMPLATE_FILE;
  if (file.kind === 'unreadable') return refuse([{ field, message: file.message }], FLEET);
  const template = readManifest(file.text);
  if (template.kind === 'invalid') {
    return refuse(
      template.problems.map((problem) => inside(TEMPLATE_FILE, problem)),
      FLEET,
    );
  }
  const whole = { ...document, spec: { template: template.manifest, ...rest } };
  return readDocument(whole, template.leftOut);
}

function readDocument(document: Json, leftOut: readonly string[]): FleetReading {
  const parsed = readBy(fleetSchema, document, FLEET);
  if (parsed.kind === 'invalid') return parsed;
  if (!isJsonObject(document)) throw new Error('the schema took what is no object');
  if (parsed.output.spec.templateFile !== undefined) {
    const message = 'must be a text, and needs a file to be read beside this one';
    return refuse([{ field: TEMPLATE_FILE, message }], FLEET);
  }
  return toFleet(parsed.output, document, leftOut);
}

function inside(field: string, problem: FleetProblem): FleetProblem {
  return {
    field: problem.field === '' ? field : `${field}: ${problem.field}`,
    message: problem.message,
  };
}

function toFleet(
  { metadata, spec }: WrittenFleet,
  document: JsonObject,
  leftOut: readonly string[],
): FleetReading {
  const { template: manifest = {}, placement, overrides, strategy } = spec;
  const rollout = jsonMember(jsonMember(document['spec'], 'strategy'), 'rollout');
  const judged = judgeManifest(cleanManifest(manifest), metadata);
  const problems = [
    ...(judged.kind === 'invalid' ? judged.problems.map(inTemplate) : []),
    ...judgePolicy(manifest, rollout),
    ...judgeNames(overrides, 'spec.overrides'),
    ...judgeStages(strategy),
  ];
  if (problems.length > 0 || judged.kind === 'invalid') return refuse(problems, FLEET);
  const policyText =
    policyTextOf(manifest) === undefined ? JSON.stringify(rollout ?? {}) : undefined;
  const fleet = {
    ...metadata,
    manifest: judged.manifest,
    placement,
    overrides,
    strategy: { ...toStrategy(strategy), ...defined({ policyText }) },
  };
  return { kind: 'fleet', fleet, document, leftOut };
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
  return reading.problems.map((problem) => inside(field, problem));
}

function judgeNames(named: readonly { readonly name: string }[], field: string): FleetProblem[] {
  const names = named.map(({ name }) => name);
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [{ field: `${within(field, index)}.name`, message: 'is given twice' }],
  );
}

const STAGES_FIELD = 'spec.strategy.stages';
/** The stage that takes what no other one did. */
const REST = 'rest';

function judgeStages({ stages, soak, progressDeadline }: WrittenStrategy): FleetProblem[] {
  const problems = [
    ...judgeNames(stages, STAGES_FIELD),
    ...stages.flatMap((stage, index) => judgeStage(stage, index, index === stages.length - 1)),
  ];
  const soaksMs = [soak, ...stages.map((stage) => stage.soak ?? 0)];
  if (progressDeadline !== undefined && progressDeadline <= Math.max(...soaksMs)) {
    const message = 'must be longer than every soak (1h unless written), or it would halt';
    problems.push({ field: 'spec.strategy.progressDeadline', message });
  }
  return problems;
}

function judgeStage(stage: WrittenStage, index: number, isLast: boolean): readonly FleetProblem[] {
  const field = within(STAGES_FIELD, index);
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

/** A last stage that does not take every cluster is followed by `rest`. */
function toStrategy(written: WrittenStrategy): FleetStrategy {
  const { stages, order, onHalt, conflicts, drift, progressDeadline } = written;
  const last = stages.at(-1);
  // A few nodes of all clusters are no end.
  const isWhole = last !== undefined && takesAll(last) && last.nodes === undefined;
  const [first = { name: REST }, ...others] = isWhole ? stages : [...stages, { name: REST }];
  return {
    stages: [toStage(first, written), ...others.map((stage) => toStage(stage, written))],
    order,
    onHalt,
    conflicts,
    drift,
    ...defined({ progressDeadlineMs: progressDeadline }),
  };
}

function toStage(stage: WrittenStage, strategy: WrittenStrategy): FleetStage {
  const { name, clusters, nodes } = stage;
  const { maxConcurrency, maxFailures, maxRefusals, soak, approval, window } = {
    ...strategy,
    ...stage,
  };
  return {
    name,
    ...choiceOf(stage),
    ...defined({ share: clusters, nodes }),
    maxConcurrency,
    maxFailures,
    maxRefusals: maxRefusals ?? maxFailures,
    soakMs: soak,
    approval,
    windows: window,
  };
}

/** A policy for the first stage: no further than a canary of so many nodes. The rest of it stays. */
function limitPolicy(text: string, nodes: Share): string {
  const canary = { nodes: nodes.kind === 'count' ? nodes.count : formatShare(nodes) };
  return edited(text, (written) => ({ ...written, canary, approval: 'after-canary' }));
}

/** A policy for a way back: without what people or windows hold; the same text where they hold nothing. */
function ungatePolicy(text: string): string {
  return edited(text, (policy) => {
    const { approval, window, ...others } = policy;
    return approval === undefined && window === undefined ? policy : others;
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** A text that cannot be read stays as it is: it holds the rollout in any case. */
function edited(text: string, edit: (written: Fields) => Fields): string {
  const yaml = readYaml(text);
  if (yaml.kind === 'invalid') return text;
  const written = isFields(yaml.value) ? yaml.value : {};
  const changed = edit(written);
  return changed === written ? text : JSON.stringify(changed);
}

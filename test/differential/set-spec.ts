/**
 * DaemonSets of scenarios: a base, and the fields that a form changes in it. Pure.
 */
import type { KubernetesObject } from '../conformance/control-plane/api.ts';
import { PLACE_LABEL, nodeNameOf, type Place } from './place.ts';
import type { SetForm, StrategyForm } from './scenario.ts';

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

interface Term {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}

interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms: readonly Term[];
    };
  };
}

const FIELD = 'metadata.name';

/** The affinity with what the form says; undefined where nothing is required. */
function changeAffinity(before: unknown, form: SetForm, place: Place): unknown {
  const required = (before as Affinity | undefined)?.nodeAffinity;
  const terms = required?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const expressionOf = (key: string): readonly Requirement[] =>
    (terms[0]?.matchExpressions ?? []).filter((it) => it.key === key);
  const former = terms.flatMap((term) => term.matchFields ?? []);
  const expressions = [
    ...(form.disk === undefined ? expressionOf('disk') : diskExpression(form.disk)),
    ...(form.cores === undefined ? expressionOf('cores') : coresExpression(form.cores)),
  ];
  const fields = form.fields === undefined ? former : nodeFields(form.fields, place);
  const nodeSelectorTerms = termsOf(expressions, fields);
  if (nodeSelectorTerms.length === 0) return undefined;
  return {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  };
}

function diskExpression(disk: NonNullable<SetForm['disk']> | null): readonly Requirement[] {
  if (disk === null) return [];
  const { operator } = disk;
  const values = operator === 'In' || operator === 'NotIn' ? { values: ['ssd'] } : {};
  return [{ key: 'disk', operator, ...values }];
}

function coresExpression(cores: NonNullable<SetForm['cores']> | null): readonly Requirement[] {
  return cores === null ? [] : [{ key: 'cores', operator: cores.operator, values: [cores.value] }];
}

function nodeFields(
  fields: NonNullable<SetForm['fields']> | null,
  place: Place,
): readonly Requirement[] {
  const { operator = 'In', nodes = [] } = fields ?? {};
  return nodes.map((node) => ({ key: FIELD, operator, values: [nodeNameOf(place, node)] }));
}

function termsOf(
  expressions: readonly Requirement[],
  fields: readonly Requirement[],
): readonly Term[] {
  const matchExpressions = expressions.length === 0 ? {} : { matchExpressions: expressions };
  if (fields.length === 0) return expressions.length === 0 ? [] : [matchExpressions];
  const isOneTerm = fields.every(({ operator }) => operator === 'NotIn');
  const groups = isOneTerm ? [fields] : fields.map((field) => [field]);
  return groups.map((matchFields) => ({ ...matchExpressions, matchFields }));
}

/** The parts of a DaemonSet's spec that scenarios change, as the API writes them. */
export interface SetSpec {
  [field: string]: unknown;
  template: {
    metadata: { labels: Record<string, string> };
    spec: {
      [field: string]: unknown;
      containers: { [field: string]: unknown; image: string }[];
      nodeSelector?: Record<string, string>;
    };
  };
}

/** All sets that a scenario may have. */
export const SET_NAMES = ['d1', 'd2', 'd3'] as const;

/** A new DaemonSet; its selector is `app: <set>`, or selects the pods of all sets: those of others are not its own. */
export function newDaemonSet(place: Place, set: string, form: SetForm): KubernetesObject {
  const labels = { app: set };
  const spec: SetSpec = {
    selector:
      form.selector === 'shared'
        ? { matchExpressions: [{ key: 'app', operator: 'In', values: SET_NAMES }] }
        : { matchLabels: labels },
    template: {
      metadata: { labels: { ...labels } },
      spec: {
        // Else admission adds a volume with a random name.
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        nodeSelector: { [PLACE_LABEL]: place.id },
        containers: [{ name: 'agent', image: 'registry.example/agent:1' }],
      },
    },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: set, namespace: place.namespace, labels },
    spec: applyForm(spec, form, place),
  };
}

/** The spec with what the form says; the given one is left as it is. */
export function applyForm(before: SetSpec, form: SetForm, place: Place): SetSpec {
  const spec = structuredClone(before);
  if (form.strategy !== undefined) spec['updateStrategy'] = updateStrategy(form.strategy);
  if (form.minReadySeconds !== undefined) spec['minReadySeconds'] = form.minReadySeconds;
  if (form.revisionsMax !== undefined) spec['revisionHistoryLimit'] = form.revisionsMax;
  applyPlacement(spec, form, place);
  applyTemplate(spec, form);
  return spec;
}

function applyTemplate(spec: SetSpec, form: SetForm): void {
  const { template } = spec;
  const [container] = template.spec.containers;
  if (form.version !== undefined && container !== undefined) {
    container.image = `registry.example/agent:${form.version}`;
  }
  if (form.isUnhealthy === true) template.metadata.labels['rollcall.test/never-ready'] = 'true';
  if (form.isUnhealthy === false) delete template.metadata.labels['rollcall.test/never-ready'];
  if (form.hostNetwork !== undefined) template.spec['hostNetwork'] = form.hostNetwork;
}

function applyPlacement({ template }: SetSpec, form: SetForm, place: Place): void {
  const { spec } = template;
  if (form.pool !== undefined) {
    const { pool: _former, ...others } = spec.nodeSelector ?? {};
    spec.nodeSelector = form.pool === null ? others : { ...others, pool: form.pool };
  }
  if (form.tolerations !== undefined) spec['tolerations'] = form.tolerations ?? [];
  if (form.nodeName === null) delete spec['nodeName'];
  else if (form.nodeName !== undefined) spec['nodeName'] = nodeNameOf(place, form.nodeName);
  const affinity = changeAffinity(spec['affinity'], form, place);
  if (affinity === undefined) delete spec['affinity'];
  else spec['affinity'] = affinity;
}

function updateStrategy(form: StrategyForm): unknown {
  if (form.type === 'OnDelete') return { type: 'OnDelete' };
  const surge = 'maxSurge' in form;
  const rollingUpdate = surge
    ? { maxSurge: form.maxSurge, maxUnavailable: 0 }
    : { maxUnavailable: form.maxUnavailable, maxSurge: 0 };
  return { type: 'RollingUpdate', rollingUpdate };
}

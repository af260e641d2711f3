// FleetDaemonSets as users write them, for the reader and for the published schema.

const BEGINNING = `
apiVersion: rollcall.dev/v1alpha1
kind: FleetDaemonSet
metadata: {namespace: monitoring, name: agent}
spec:
  template:
    apiVersion: apps/v1
    kind: DaemonSet
    spec:
      selector: {matchLabels: {app: agent}}
      template:
        metadata: {labels: {app: agent}}
        spec: {containers: [{name: agent, image: registry.example/agent:1}]}
`;

/** One with every field. */
export const EVERY_FIELD = `${BEGINNING}  placement:
    clusterNames: [prod-eu-1]
    clusterSelector: {matchExpressions: [{key: stage, operator: In, values: [prod]}]}
    exclude: {clusterNames: [lab-1]}
  overrides:
  - name: arm
    clusterSelector: {matchLabels: {arch: arm64}}
    strategicMerge: {spec: {template: {spec: {nodeSelector: {arch: arm64}}}}}
    jsonPatch: [{op: add, path: /spec/minReadySeconds, value: 5}]
  strategy:
    stages:
    - {name: first, clusterNames: [prod-eu-1], nodes: 3, approval: after, soak: 2h}
    - {name: early, clusters: 10%, maxConcurrency: 1, maxFailures: 5%}
    - {name: rest, window: {days: [mon-thu], from: "09:00", to: "16:00", timeZone: UTC}}
    order: [{label: tier, values: [dev]}, {label: critical, last: true}]
    onHalt: rollback
    progressDeadline: 24h
    rollout: {canary: {nodes: 2}, window: {timeZone: UTC}}
    maxConcurrency: 20%
    maxFailures: 1
    soak: 30m
    approval: none
    window: [{timeZone: Europe/Berlin}]
`;

/** One that says as little as it may. */
export const SMALLEST = `${BEGINNING}  placement: {all: true}
`;

type Refused = readonly [
  what: string,
  before: string,
  after: string,
  field: string,
  by: 'schema' | 'reader',
];

/** Each is the smallest one with one text in the place of another, and the field that is told. */
export const REFUSED_FLEETS: readonly Refused[] = [
  ['another version', 'v1alpha1', 'v1', 'apiVersion', 'schema'],
  ['another kind', 'FleetDaemonSet', 'DaemonSet', 'kind', 'schema'],
  ['no namespace', 'namespace: monitoring, ', '', 'metadata.namespace', 'schema'],
  ['a name in capitals', 'name: agent}\n', 'name: Agent}\n', 'metadata.name', 'schema'],
  [
    'a label of its own',
    'name: agent}\n',
    'name: agent, labels: {}}\n',
    'metadata.labels',
    'schema',
  ],
  ['no placement', '  placement: {all: true}\n', '', 'spec.placement', 'schema'],
  ['a placement of nothing', '{all: true}', '{}', 'spec.placement', 'reader'],
  [
    'a placement of all and of some',
    '{all: true}',
    '{all: true, clusterNames: [a]}',
    'spec.placement',
    'reader',
  ],
  [
    'an id that is none',
    '{all: true}',
    '{clusterNames: [a/b]}',
    'spec.placement.clusterNames[0]',
    'schema',
  ],
  [
    'an empty selector',
    '{all: true}',
    '{clusterSelector: {}}',
    'spec.placement.clusterSelector',
    'reader',
  ],
  ['a manifest of another kind', 'kind: DaemonSet', 'kind: Job', 'spec.template.kind', 'reader'],
  ['an unknown field', '  placement', '  pause: true\n  placement', 'spec.pause', 'schema'],
  [
    'a number that kubectl reads as octal',
    'kind: DaemonSet\n    spec:',
    'kind: DaemonSet\n    spec:\n      minReadySeconds: 010',
    'spec.template.spec.minReadySeconds',
    'reader',
  ],
  [
    'an override that changes nothing',
    '{all: true}',
    '{all: true}\n  overrides: [{name: a}]',
    'spec.overrides[0]',
    'reader',
  ],
  [
    'two overrides of one name',
    '{all: true}',
    '{all: true}\n  overrides: [{name: a, jsonPatch: []}, {name: a, jsonPatch: []}]',
    'spec.overrides[1].name',
    'reader',
  ],
  [
    'stages of none',
    '{all: true}',
    '{all: true}\n  strategy: {stages: []}',
    'spec.strategy.stages',
    'schema',
  ],
  [
    'a stage without a name',
    '{all: true}',
    '{all: true}\n  strategy: {stages: [{clusters: 1}]}',
    'spec.strategy.stages[0].name',
    'schema',
  ],
  [
    'nodes in a later stage',
    '{all: true}',
    '{all: true}\n  strategy: {stages: [{name: a, clusters: 1}, {name: b, nodes: 1}]}',
    'spec.strategy.stages[1].nodes',
    'reader',
  ],
  [
    'a stage of all before another',
    '{all: true}',
    '{all: true}\n  strategy: {stages: [{name: a}, {name: b}]}',
    'spec.strategy.stages[0]',
    'reader',
  ],
  [
    'a rest that is none',
    '{all: true}',
    '{all: true}\n  strategy: {stages: [{name: rest, clusters: 1}]}',
    'spec.strategy.stages[0].name',
    'reader',
  ],
  [
    'a share of nothing',
    '{all: true}',
    '{all: true}\n  strategy: {stages: [{name: a, clusters: 0%}]}',
    'spec.strategy.stages[0].clusters',
    'schema',
  ],
  [
    'a zone that nobody knows',
    '{all: true}',
    '{all: true}\n  strategy: {window: {timeZone: Mars/Base}}',
    'spec.strategy.window[0].timeZone',
    'reader',
  ],
  [
    'a deadline within the soak',
    '{all: true}',
    '{all: true}\n  strategy: {progressDeadline: 1h}',
    'spec.strategy.progressDeadline',
    'reader',
  ],
  [
    'a policy for each cluster that cannot be read',
    '{all: true}',
    '{all: true}\n  strategy: {rollout: {soak: soon}}',
    'spec.strategy.rollout.soak',
    'schema',
  ],
  [
    'a policy twice',
    'kind: DaemonSet\n',
    'kind: DaemonSet\n    metadata: {annotations: {rollcall.dev/rollout: "{}"}}\n',
    'spec.strategy.rollout',
    'reader',
  ],
  [
    'a policy in the manifest that cannot be read',
    'kind: DaemonSet\n',
    'kind: DaemonSet\n    metadata: {annotations: {rollcall.dev/rollout: "soak: soon"}}\n',
    'spec.template.metadata.annotations["rollcall.dev/rollout"]: soak',
    'reader',
  ],
  ['a YAML alias', '{all: true}', '{all: true}\n  overrides: *x', 'spec.overrides', 'reader'],
];

/** The text of one of them. */
export function refusedText([what, before, after]: Refused): string {
  const text = SMALLEST.replace(before, after);
  if (text === SMALLEST) throw new Error(`${what}: the smallest one has no ${before}`);
  return what === 'a policy twice' ? `${text}  strategy: {rollout: {}}\n` : text;
}

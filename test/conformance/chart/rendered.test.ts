/**
 * The chart and the kustomizations are two forms of the same files: for each mode and each overlay `helm template` gives what
 * `kubectl kustomize` gives, object by object. Of the chart alone is one annotation, by which a changed ConfigMap restarts
 * the watcher. Which kustomizations there are is found, not listed.
 */
import assert from 'node:assert/strict';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { copilotPolicy, rollbackRights } from '../../../scripts/install/listed-copilot.ts';
import { composeManifests, releasedImage } from '../../../src/cli/cluster/manifests/manifests.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import type { KubernetesObject } from '../control-plane/api.ts';
import { ensureBinaries } from '../control-plane/build.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { CHART, LEAST_VALUES, objectsOf, openHelm, type ChartValues, type Helm } from './helm.ts';

const QUEUE = 'https://sqs.eu-central-1.amazonaws.com/111122223333/rollcall-prod-credentials';
const KEY = 'arn:aws:kms:eu-central-1:111122223333:key/0f0e0d0c-1a1b-4c4d-8e8f-000000000000';
const RENEWER_ROLE = 'arn:aws:iam::444455556666:role/rollcall/prod/prod-1-renewer';
const RENEWER = {
  ...{ credentialsQueueUrl: QUEUE, credentialsKeyArn: KEY, roleArn: RENEWER_ROLE },
  // The shipped one, which is of no cluster.
  schedule: '17 * * * *',
};

/** The taint of the shipped policy. */
const START_UP = { taint: 'rollcall.dev/agents-not-ready:NoSchedule' };

/** What stands in the shipped files for these values. */
const SHIPPED: Readonly<Record<string, string>> = {
  '<name of the cluster>': LEAST_VALUES.cluster,
  '<url of the events queue>': LEAST_VALUES.watcher.eventsQueueUrl,
  '<region of the events queue>': LEAST_VALUES.region,
  "<arn of the watcher's role>": LEAST_VALUES.watcher.roleArn,
  '<url of the credentials queue>': QUEUE,
  '<arn of the credentials key>': KEY,
  '<region of the credentials queue>': LEAST_VALUES.region,
  "<arn of the renewer's role>": RENEWER_ROLE,
  '<access key id>': '',
  '<secret access key>': '',
  'registry.invalid/rollcall/watcher:0.1.0': LEAST_VALUES.image,
};
const SHIPPED_TEXTS = /<[^<>\n]*>|registry\.invalid[^\s]*/g;
/** Keys are filled in where no release and no repository sees them. */
const SECRETS = ['rollcall-watcher-aws', 'rollcall-renewer-aws'];

/** Overlays of infra/overlays beside each other, and the values that shall say the same. */
const SAME: Readonly<Record<string, readonly [overlays: readonly string[], values: ChartValues]>> =
  {
    'observe, roles for service accounts': [['watcher/eks-irsa'], {}],
    'observe, pod identity': [['watcher/eks-pod-identity'], { credentials: 'pod-identity' }],
    'observe, web identity': [['watcher/web-identity'], { credentials: 'web-identity' }],
    'observe, static credentials': [['watcher/static-credentials'], { credentials: 'static' }],
    'observe, two replicas': [
      ['watcher/highly-available'],
      { credentials: 'pod-identity', watcher: { highlyAvailable: true } },
    ],
    'copilot, access entries': [
      ['watcher/eks-irsa', 'functions/copilot-eks'],
      { mode: 'copilot', auth: 'eks' },
    ],
    'copilot, bound tokens': [
      ['watcher/web-identity', 'renewer/web-identity', 'functions/copilot'],
      { mode: 'copilot', auth: 'bound-token', credentials: 'web-identity', renewer: RENEWER },
    ],
    'takeover, access entries': [
      ['watcher/eks-irsa', 'functions/takeover-eks'],
      { mode: 'takeover', auth: 'eks' },
    ],
    'takeover, bound tokens': [
      ['watcher/eks-irsa', 'renewer/eks-irsa', 'functions/takeover'],
      { mode: 'takeover', auth: 'bound-token', renewer: RENEWER },
    ],
    'takeover of a namespace, access entries': [
      ['watcher/eks-irsa', 'functions/takeover-namespaces-eks'],
      { mode: 'takeover', auth: 'eks', takeover: { namespaces: ['node-agents'] } },
    ],
    'takeover of a namespace, bound tokens': [
      ['watcher/static-credentials', 'renewer/static-credentials', 'functions/takeover-namespaces'],
      {
        ...{ mode: 'takeover', auth: 'bound-token', credentials: 'static', renewer: RENEWER },
        takeover: { namespaces: ['node-agents'] },
      },
    ],
    'copilot with start-up taints, access entries': [
      ['watcher/eks-irsa', 'functions/copilot-eks', 'functions/start-up-eks'],
      { mode: 'copilot', auth: 'eks', startUp: START_UP },
    ],
    'copilot with a start-up condition, access entries': [
      ['watcher/eks-irsa', 'functions/copilot-eks', 'functions/start-up-condition-eks'],
      {
        mode: 'copilot',
        auth: 'eks',
        startUp: { ...START_UP, condition: 'rollcall.dev/AgentsReady' },
      },
    ],
    'takeover with a start-up condition, bound tokens': [
      [
        'watcher/eks-irsa',
        'renewer/eks-irsa',
        'functions/takeover',
        'functions/start-up-condition',
      ],
      {
        ...{ mode: 'takeover', auth: 'bound-token', renewer: RENEWER },
        startUp: { ...START_UP, condition: 'rollcall.dev/AgentsReady' },
      },
    ],
    'takeover with start-up taints, bound tokens': [
      ['watcher/eks-irsa', 'renewer/eks-irsa', 'functions/takeover', 'functions/start-up'],
      { mode: 'takeover', auth: 'bound-token', renewer: RENEWER, startUp: START_UP },
    ],
    'mirror alone, access entries': [
      ['mirror/eks'],
      { auth: 'eks', watcher: { enabled: false }, mirror: { enabled: true } },
    ],
    'mirror beside observe, bound tokens': [
      ['watcher/eks-irsa', 'renewer/eks-irsa', '../mirror'],
      { auth: 'bound-token', renewer: RENEWER, mirror: { enabled: true } },
    ],
    'mirror beside takeover, bound tokens': [
      ['watcher/eks-irsa', 'renewer/eks-irsa', 'functions/takeover', '../mirror'],
      { mode: 'takeover', auth: 'bound-token', renewer: RENEWER, mirror: { enabled: true } },
    ],
  };

/** Values that are refused, and what names the field. */
const REFUSED: Readonly<Record<string, readonly [values: ChartValues, said: RegExp]>> = {
  'no name of the cluster': [{ cluster: undefined }, /\(root\): cluster is required/],
  'a name that none can have': [{ cluster: 'a b' }, /- cluster: Does not match pattern/],
  'a number for a name': [{ cluster: 7 }, /- cluster: Invalid type\. Expected: string/],
  'no queue': [{ watcher: { roleArn: 'a' } }, /- watcher: eventsQueueUrl is required/],
  'no role': [
    { watcher: { ...LEAST_VALUES.watcher, roleArn: '' } },
    /- watcher\.roleArn: String length/,
  ],
  'a taint that is none': [{ startUp: { taint: 'agents' } }, /- startUp\.taint: Does not match/],
  'an image that no registry has': [{ image: '' }, /image: must name the watcher's image/],
  'a mode that is none': [{ mode: 'take-over' }, /- mode: mode must be one of/],
  'a mode without a way in': [{ mode: 'takeover' }, /- auth: auth must be one of/],
  'bound tokens without a key': [
    { mode: 'copilot', auth: 'bound-token', renewer: { credentialsQueueUrl: QUEUE } },
    /- renewer: credentialsKeyArn is required/,
  ],
  'a DaemonSet without its namespace': [
    { mode: 'copilot', auth: 'eks', copilot: { daemonSets: ['agent'] } },
    /- copilot\.daemonSets\.0: Does not match pattern/,
  ],
  'text that would end a string of CEL': [
    { mode: 'copilot', auth: 'eks', copilot: { daemonSets: ["a/b'"] } },
    /- copilot\.daemonSets\.0: Does not match pattern/,
  ],
  'a container of somebody else': [
    { podSpec: { containers: [] } },
    /- podSpec(?:\.containers)?: .*containers/,
  ],
  'a value that is misspelt': [{ clutser: 'a' }, /Additional property clutser is not allowed/],
  'one within others': [
    { watcher: { ...LEAST_VALUES.watcher, replicas: 2 } },
    /- watcher: Additional property replicas is not allowed/,
  ],
};

const skip = skipWithoutTools([TOOLS.go]);

describe('the chart renders what kustomize renders', { skip }, () => {
  let helm: Helm;
  let kubectl: Kubectl;
  let scratch: string;

  before(async () => {
    helm = await openHelm();
    scratch = mkdtempSync(repositoryPath('.chart-test-'));
    kubectl = bindKubectl({
      program: (await ensureBinaries()).kubectl,
      kubeconfigPath: path.join(scratch, 'none'),
      cacheDirectory: path.join(scratch, 'cache'),
    });
  });
  after(() => {
    helm.remove();
    rmSync(scratch, { recursive: true });
  });

  const template = async (values: ChartValues, ...more: string[]): Promise<Objects> =>
    byIdentity(
      objectsOf(await helm.succeed(['template', 'rollcall', CHART, ...more], over(values))),
    );
  const built = async (folder: string): Promise<readonly KubernetesObject[]> =>
    objectsOf(filled(await kubectl.succeed(['kustomize', folder])));

  for (const [title, [overlays, values]] of Object.entries(SAME)) {
    it(title, async () => {
      const wanted: KubernetesObject[] = [];
      for (const overlay of overlays) {
        wanted.push(...(await built(repositoryPath(`infra/overlays/${overlay}`))));
      }
      const kustomized = byIdentity(
        wanted.filter(
          ({ kind, metadata }) => kind !== 'Secret' || !SECRETS.includes(metadata.name),
        ),
      );
      const rendered = await template(values);
      assert.deepEqual([...rendered.keys()].sort(), [...kustomized.keys()].sort());
      for (const [identity, object] of kustomized) {
        assert.deepEqual(withoutOwn(rendered.get(identity)), object, identity);
      }
    });
  }

  it('leaves no kustomization out', () => {
    const tried = new Set(Object.values(SAME).flatMap(([overlays]) => overlays));
    const there = globSync('*/*/kustomization.yaml', { cwd: repositoryPath('infra/overlays') })
      .map((file) => path.dirname(file))
      .filter((folder) => !folder.startsWith('components/'));
    assert.deepEqual(
      there.filter((folder) => !tried.has(folder)),
      [],
    );
  });

  it('takes one image for all programs from the watcher’s Deployment, as the command line does', async () => {
    const chart = path.join(scratch, 'released');
    cpSync(CHART, chart, { recursive: true });
    const file = path.join(chart, 'watcher/deployment.yaml');
    const released = 'registry.example.com/w:v1@sha256:1';
    const deployment = readFileSync(file, 'utf8').replace(/registry\.invalid\S+/, released);
    writeFileSync(file, deployment);
    assert.equal(releasedImage(deployment), released);
    const [, values = {}] = SAME['takeover, bound tokens'] ?? [];
    const given = { ...over(values), image: undefined };
    const text = await helm.succeed(['template', 'rollcall', chart], given);
    const images = [...text.matchAll(/ image: (\S+)$/gm)].map(([, image]) => image);
    assert.deepEqual(images, [released, released]);
  });

  it('sends tokens at the minute at which `cluster add` would', async () => {
    const [, values] = SAME['takeover, bound tokens'] ?? [];
    const objects = await template({
      ...{ ...values, cluster: 'edge-7', renewer: { ...RENEWER, schedule: '' } },
    });
    const composed = composeManifests({
      id: 'edge-7',
      outputs: {
        EventsQueueArn: 'arn:aws:sqs:eu-central-1:1:events.fifo',
        EventsQueueUrl: LEAST_VALUES.watcher.eventsQueueUrl,
        CredentialsQueueUrl: QUEUE,
        CredentialsKeyArn: KEY,
      },
      credentials: 'pod-identity',
      authentication: 'bound-token',
    });
    const job = composed.find(({ kind }) => kind === 'CronJob') as Scheduled | undefined;
    const rendered = objects.get('CronJob rollcall-system/rollcall-renewer') as
      Scheduled | undefined;
    assert.ok(job !== undefined && rendered !== undefined);
    assert.equal(rendered.spec.schedule, job.spec.schedule);
  });

  it('names the DaemonSets of copilot as scripts/install/copilot-policy.ts does', async () => {
    const daemonSets = ['node-agents/log-collector', 'kube-system/csi.node'];
    const values = { mode: 'copilot', auth: 'eks', copilot: { daemonSets, rollback: true } };
    const objects = await template(values);
    const named = daemonSets.map((each) => {
      const [namespace = '', name = ''] = each.split('/');
      return { namespace, name };
    });
    const wanted = byIdentity([
      ...copilotPolicy(named),
      ...rollbackRights(named),
    ] as unknown as KubernetesObject[]);
    assert.equal(wanted.size, 6);
    for (const [identity, object] of wanted) {
      assert.deepEqual(objects.get(identity), object, identity);
    }
  });

  it('gives rights in each chosen namespace, and binds DaemonSets only where it is asked to', async () => {
    const takeover = { namespaces: ['a', 'b'], bindEveryDaemonSet: false };
    const objects = await template({ mode: 'takeover', auth: 'eks', takeover });
    const bound = [...objects.values()].filter(
      (object) => (object as Bound).roleRef?.name === 'rollcall-functions-namespace',
    );
    assert.deepEqual(
      bound.map(({ metadata }) => metadata.namespace),
      ['a', 'b'],
    );
    const bindings = [...objects.keys()].filter((name) => name.includes('PolicyBinding'));
    assert.ok(bindings.length > 0 && !bindings.some((name) => name.endsWith('-owner')));
  });

  it('says of pods what its values say, in all places', async () => {
    const tolerations = [{ operator: 'Exists' }];
    const watcher = {
      ...LEAST_VALUES.watcher,
      port: 9999,
      resources: { limits: { memory: '1Gi' } },
    };
    const objects = await template({ hostNetwork: false, podSpec: { tolerations }, watcher });
    const deployment = objects.get('Deployment rollcall-system/rollcall-watcher');
    const { template: pod } = (deployment as unknown as Deployed).spec;
    const [container] = pod.spec.containers;
    assert.equal(pod.spec.hostNetwork, false);
    assert.equal(pod.spec.dnsPolicy, 'ClusterFirst');
    assert.deepEqual(pod.spec.tolerations, tolerations);
    assert.deepEqual(container.ports, [{ containerPort: 9999, name: 'probes' }]);
    assert.deepEqual(container.resources, watcher.resources);
    assert.doesNotMatch(stringify(pod), /9737/);
  });

  it('leaves the namespace to who keeps the release in it', async () => {
    const objects = await template({}, '--namespace', 'rollcall-system');
    assert.ok(![...objects.keys()].some((name) => name.startsWith('Namespace ')));
  });

  it('passes helm lint, and has a description of every value', async () => {
    await helm.succeed(['lint', '--strict', CHART], LEAST_VALUES);
    const schema = JSON.parse(readFileSync(path.join(CHART, 'values.schema.json'), 'utf8')) as Part;
    const defaults = parse(readFileSync(path.join(CHART, 'values.yaml'), 'utf8')) as object;
    assert.deepEqual(missingDescriptions(schema, defaults), []);
  });

  it('takes the values of docs/install.md', async () => {
    const [, section = ''] = readFileSync(repositoryPath('docs/install.md'), 'utf8').split(
      '### With Helm\n',
    );
    const [, values = ''] = /```yaml\n([^]*?)```/.exec(section) ?? [];
    const command = ['template', 'rollcall', CHART];
    const text = await helm.succeed(command, parse(values) as ChartValues);
    assert.equal(text, await helm.succeed(command, LEAST_VALUES));
  });

  it('gives rights only where admission can narrow them', async () => {
    const old = ['template', 'rollcall', CHART, '--kube-version', '1.29.0'];
    await helm.succeed(old, LEAST_VALUES);
    const { stderr } = await helm.run(old, { ...LEAST_VALUES, mode: 'copilot', auth: 'eks' });
    assert.match(stderr, /mode: needs Kubernetes 1\.30/);
  });

  describe('refuses, by the name of the field', () => {
    for (const [what, [values, said]] of Object.entries(REFUSED)) {
      it(what, async () => {
        const { exitCode, stderr } = await helm.run(['template', 'rollcall', CHART], {
          ...LEAST_VALUES,
          ...values,
        });
        assert.equal(exitCode, 1);
        assert.match(stderr, said);
      });
    }
  });
});

type Objects = ReadonlyMap<string, KubernetesObject>;
interface Scheduled {
  readonly spec: { readonly schedule: string };
}
interface Bound {
  readonly roleRef?: { readonly name: string };
}
interface Deployed {
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      readonly spec: {
        readonly hostNetwork: boolean;
        readonly dnsPolicy: string;
        readonly tolerations: readonly object[];
        readonly containers: readonly [{ readonly ports: object; readonly resources: object }];
      };
    };
  };
}
interface Part {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Part>>;
}

/** The least values with these over them, and within the watcher's too. */
function over(values: ChartValues): ChartValues {
  const watcher = { ...LEAST_VALUES.watcher, ...(values['watcher'] as object | undefined) };
  return { ...LEAST_VALUES, ...values, watcher };
}

/** By kind, namespace and name. Two of one identity must be the same. */
function byIdentity(objects: readonly KubernetesObject[]): Objects {
  const found = new Map<string, KubernetesObject>();
  for (const object of objects) {
    const { kind, metadata } = object;
    const identity = `${String(kind)} ${metadata.namespace ?? ''}/${metadata.name}`;
    const earlier = found.get(identity);
    if (earlier !== undefined) assert.deepEqual(object, earlier, identity);
    found.set(identity, object);
  }
  return found;
}

/** With values in the place of what the shipped files have there. Fails for one that has none. */
function filled(text: string): string {
  return text.replaceAll(SHIPPED_TEXTS, (found) => {
    const value = SHIPPED[found];
    assert.ok(value !== undefined, found);
    return value;
  });
}

/** Without what is the chart's own: the mark of the ConfigMap, which must be there. */
function withoutOwn(object: KubernetesObject | undefined): unknown {
  assert.ok(object !== undefined);
  if (object.kind !== 'Deployment') return object;
  const copy = structuredClone(object) as unknown as Deployed;
  const { annotations } = copy.spec.template.metadata;
  assert.match(annotations['checksum/config'] ?? '', /^[0-9a-f]{64}$/);
  Reflect.deleteProperty(annotations, 'checksum/config');
  return copy;
}

/** Values without a description, and defaults that the schema does not know. */
function missingDescriptions(schema: Part, defaults: object, at = ''): readonly string[] {
  const known = schema.properties ?? {};
  const strangers = Object.keys(defaults).filter((name) => !(name in known));
  return [
    ...strangers.map((name) => `${at}${name}`),
    ...Object.entries(known).flatMap(([name, part]) => {
      const inner = (defaults as Readonly<Record<string, unknown>>)[name];
      if (part.properties !== undefined)
        return missingDescriptions(part, inner ?? {}, `${at}${name}.`);
      return part.description === undefined ? [`${at}${name}`] : [];
    }),
  ];
}

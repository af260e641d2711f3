/** What the watcher and the renewer are installed with: hardened pods, placeholders that fail loudly, no drift. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { readWatchSettings } from '../../../src/adapters/kubernetes/settings/watch-settings.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

interface Container {
  readonly name: string;
  readonly image: string;
  readonly ports?: readonly { readonly containerPort: number; readonly hostPort?: number }[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>;
    readonly limits?: Readonly<Record<string, string>>;
  };
  readonly securityContext?: Readonly<Record<string, unknown>>;
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly dnsPolicy?: string;
  readonly priorityClassName?: string;
  readonly tolerations?: readonly { readonly key?: string; readonly effect?: string }[];
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
}
interface Workload {
  readonly kind: string;
  readonly spec: {
    readonly template?: { readonly spec: PodSpec };
    readonly jobTemplate?: { readonly spec: { readonly template: { readonly spec: PodSpec } } };
  };
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** What is YAML under infra/: the chart's templates become that only by Helm. */
function manifestFiles(): readonly string[] {
  const exclude = ['infra/templates/**'];
  return globSync('infra/**/*.yaml', { cwd: ROOT, exclude });
}

/** Every pod that a file under infra/ describes. */
function podSpecs(): readonly (readonly [string, PodSpec])[] {
  const files = manifestFiles().filter((file) => !file.startsWith('infra/cluster'));
  return files.flatMap((file) =>
    parseAllDocuments(read(file)).flatMap((document): (readonly [string, PodSpec])[] => {
      const { kind, spec } = (document.toJS() ?? {}) as Workload;
      if (kind !== 'Deployment' && kind !== 'CronJob') return [];
      const pod = spec.template?.spec ?? spec.jobTemplate?.spec.template.spec;
      assert.ok(pod !== undefined);
      return [[`${file} ${kind}`, pod]];
    }),
  );
}

describe('every pod of ours in a cluster', () => {
  const pods = podSpecs();

  test('is found: the watcher’s, and the renewer’s', () => {
    const names = pods.map(([name]) => name);
    for (const name of [
      'infra/watcher/deployment.yaml Deployment',
      'infra/renewer/cronjob.yaml CronJob',
    ])
      assert.ok(names.includes(name), name);
  });

  for (const [name, pod] of pods) {
    test(`${name}: runs as a number, writes no file, gains and keeps no privilege`, () => {
      const { runAsNonRoot, runAsUser, seccompProfile } = pod.securityContext ?? {};
      assert.equal(runAsNonRoot, true);
      assert.ok(typeof runAsUser === 'number' && runAsUser > 0);
      assert.deepEqual(seccompProfile, { type: 'RuntimeDefault' });
      assert.equal(pod.hostPID ?? false, false);
      assert.equal(pod.hostIPC ?? false, false);
      const isHarmless = (volume: Readonly<Record<string, unknown>>): boolean =>
        !('hostPath' in volume);
      assert.ok((pod.volumes ?? []).every(isHarmless));
      for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
        assert.deepEqual(container.securityContext, {
          allowPrivilegeEscalation: false,
          privileged: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    });

    test(`${name}: says what it needs and may take`, () => {
      for (const { resources } of pod.containers) {
        for (const kind of ['cpu', 'memory']) {
          assert.ok(resources?.requests?.[kind] !== undefined, `requests ${kind}`);
          assert.ok(resources.limits?.[kind] !== undefined, `limits ${kind}`);
        }
      }
    });

    test(`${name}: works before the daemons that it helps to place (design 2)`, () => {
      assert.equal(pod.hostNetwork, true);
      assert.equal(pod.dnsPolicy, 'Default');
      assert.equal(pod.priorityClassName, 'system-cluster-critical');
      const tolerated = new Set((pod.tolerations ?? []).map(({ key }) => key));
      for (const taint of [
        'node.kubernetes.io/not-ready',
        'node.kubernetes.io/network-unavailable',
        'node.kubernetes.io/unschedulable',
        'node-role.kubernetes.io/control-plane',
      ])
        assert.ok(tolerated.has(taint), taint);
      // A node without its network is not ready for longer than any grace: with an effect it would be evicted.
      const notReady = pod.tolerations?.find(({ key }) => key === 'node.kubernetes.io/not-ready');
      assert.deepEqual(notReady, { key: 'node.kubernetes.io/not-ready', operator: 'Exists' });
    });

    test(`${name}: names an image that nobody else can put under that name`, () => {
      const { version } = JSON.parse(read('package.json')) as { readonly version: string };
      for (const { image } of pod.containers)
        assert.equal(image, `registry.invalid/rollcall/watcher:${version}`);
    });
  }
});

test('the probes ask the paths and the port that the watcher serves', () => {
  const found = podSpecs().find(([name]) => name.startsWith('infra/watcher/deployment.yaml'));
  const container = found?.[1].containers[0];
  assert.ok(container !== undefined);
  const port = container.ports?.[0]?.containerPort;
  assert.deepEqual(container.livenessProbe?.httpGet, { path: '/livez', port: 'probes' });
  assert.deepEqual(container.readinessProbe?.httpGet, { path: '/readyz', port: 'probes' });
  const address = container.env?.find(({ name }) => name === 'ROLLCALL_PROBE_ADDRESS')?.value;
  assert.equal(address, `$(POD_IP):${String(port)}`);
  assert.equal(container.ports?.[0]?.hostPort, port);
});

test('a placeholder that is left in any overlay of the watcher stops it at its start', () => {
  const settings = {
    ROLLCALL_CLUSTER: 'prod-1',
    ROLLCALL_EVENTS_QUEUE_URL: 'https://queue.example/1/events.fifo',
  };
  const files = [
    ...globSync('infra/watcher/*.yaml', { cwd: ROOT }),
    ...globSync('infra/overlays/{watcher,components}/**/*.yaml', { cwd: ROOT }),
  ];
  const found = files.flatMap((file) => [...read(file).matchAll(/([\w./-]+): (<[^<>\n]+>)$/gm)]);
  assert.ok(found.length >= 7);
  for (const [, key = '', value] of found) {
    // The webhook of EKS turns the annotation into this variable.
    const variable = key === 'eks.amazonaws.com/role-arn' ? 'AWS_ROLE_ARN' : key;
    const read = readWatchSettings({ ...settings, [variable]: value }, [], new VirtualClock());
    assert.match(
      read.kind === 'refused' ? read.message : 'accepted',
      /still is a placeholder/,
      key,
    );
  }
});

test('one version is that of the package, the chart, and the image that the manifests name', () => {
  const { version } = JSON.parse(read('package.json')) as { readonly version: string };
  const chart = parse(read('infra/Chart.yaml')) as Readonly<Record<string, string>>;
  assert.deepEqual([chart['version'], chart['appVersion']], [version, version]);
  const images = podSpecs().flatMap(([, pod]) => pod.containers.map(({ image }) => image));
  assert.deepEqual(new Set(images), new Set([`registry.invalid/rollcall/watcher:${version}`]));
});

test('whichever file is applied last, the namespace keeps its labels', () => {
  const labels = manifestFiles().flatMap((file) =>
    parseAllDocuments(read(file)).flatMap((document) => {
      const { kind, metadata } = (document.toJS() ?? {}) as {
        kind?: string;
        metadata?: { name?: string; labels?: object };
      };
      return kind === 'Namespace' && metadata?.name === 'rollcall-system' ? [metadata.labels] : [];
    }),
  );
  assert.ok(labels.length >= 4);
  for (const one of labels) assert.deepEqual(one, labels[0]);
});

test('every component is used by an overlay, so that the suite of manifests sees it', () => {
  const kustomizations = globSync('infra/**/kustomization.yaml', { cwd: ROOT });
  const used = kustomizations.flatMap((file) => {
    const { components = [] } = parse(read(file)) as { readonly components?: readonly string[] };
    return components.map((one) => path.join(path.dirname(file), one));
  });
  const components = kustomizations
    .filter((file) => (parse(read(file)) as { readonly kind: string }).kind === 'Component')
    .map((file) => path.dirname(file));
  assert.ok(components.length >= 2);
  assert.deepEqual(
    components.filter((one) => !used.includes(one)),
    [],
  );
});

describe('the image', () => {
  const lines = read('infra/watcher/Dockerfile')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const instruction = (name: string): readonly string[] =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));

  test('is built on the Node that the tests run, named by its whole version', () => {
    const { devDependencies } = JSON.parse(read('package.json')) as {
      readonly devDependencies: Readonly<Record<string, string>>;
    };
    const version = devDependencies['node'];
    assert.deepEqual(instruction('ARG'), [`NODE_IMAGE=node:${String(version)}-slim`]);
    assert.deepEqual(instruction('FROM'), ['${NODE_IMAGE}']);
  });

  test('holds one file of ours, runs as a number, and needs no shell', () => {
    assert.deepEqual(instruction('COPY'), [
      '--chmod=0444 dist/watcher/watcher.mjs /rollcall/watcher.mjs',
    ]);
    assert.match(instruction('USER').join(), /^[1-9]\d*:[1-9]\d*$/);
    const [program, ...rest] = JSON.parse(instruction('ENTRYPOINT').join()) as readonly string[];
    assert.equal(program, 'node');
    assert.equal(rest.at(-1), '/rollcall/watcher.mjs');
    assert.ok(rest.slice(0, -1).every((flag) => flag.startsWith('--')));
    assert.deepEqual([...instruction('RUN'), ...instruction('ADD')], []);
  });
});

/**
 * Whatever infra/ offers to a cluster, on a real API server: every kustomization passes a server-side dry run with
 * strict validation, its namespace created first; the pods pass Pod Security as the
 * namespace is labelled, and break `restricted` in nothing but the node's network. A planted typo must fail.
 *
 * The API server runs alone: nothing that is created here is scheduled or run. Kustomizations are found, not
 * listed: a new one is held to the same.
 */
import assert from 'node:assert/strict';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { TOOLS, skipWithoutTools } from '../../support/require-tool.ts';
import { createApiClient } from '../control-plane/api.ts';
import type { ApiClient, ApiResponse, KubernetesObject } from '../control-plane/api.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { applyFiles } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';

const KUSTOMIZATIONS = globSync('infra/**/kustomization.yaml', { cwd: repositoryPath('') })
  .filter((file) => kindOf(repositoryPath(file)) === 'Kustomization')
  .map((file) => path.dirname(file))
  .toSorted();

/** Namespaces that are not of Rollcall: the example of infra/functions/namespaces. */
const OTHER_NAMESPACES = ['node-agents'];
const DRY_RUN = ['apply', '--dry-run=server', '--validate=strict'];
/** All that keeps our pods from the level `restricted`; anything else would be a weakness. */
const RESTRICTED_VIOLATIONS = /host namespaces \(hostNetwork=true\)(?:, hostPort \([^)]*9737\))?$/;

/** In infra/watcher/deployment.yaml, each caught by another check of the API server. */
const TYPOS = {
  'in the name of a field': {
    from: 'tolerations:',
    to: 'tolerationz:',
    refusal: /unknown field "spec\.template\.spec\.tolerationz"/,
  },
  'in a value': { from: 'operator: Exists', to: 'operator: Exist', refusal: /"Exist"/ },
  'in the type of a value': { from: 'replicas: 1', to: 'replicas: one', refusal: /replicas/ },
  'in what two values mean together': {
    from: 'maxUnavailable: 1',
    to: 'maxUnavailable: 0',
    refusal: /may not be 0 when `maxSurge` is 0/,
  },
};

function kindOf(file: string): string {
  return (parse(readFileSync(file, 'utf8')) as { readonly kind: string }).kind;
}

/** Pods of the Deployments and CronJobs among objects. */
function podsOf(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  return objects.flatMap((object) => {
    const { spec } = object as { readonly spec?: Template & { readonly jobTemplate?: Job } };
    const template = spec?.template ?? spec?.jobTemplate?.spec.template;
    if (template === undefined) return [];
    const { name, namespace = '' } = object.metadata;
    const metadata = { name, namespace };
    return [{ apiVersion: 'v1', kind: 'Pod', metadata, spec: template.spec }];
  });
}
interface Template {
  readonly template?: { readonly spec: object };
}
interface Job {
  readonly spec: Required<Template>;
}

function messageOf({ status, body }: ApiResponse): string {
  return `${String(status)} ${(body as { message?: string }).message ?? ''}`;
}

const skip = skipWithoutTools([TOOLS.go]);

describe('what infra/ offers to a cluster, on a real API server', { skip }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-manifests-'));
  let controlPlane: ControlPlane;
  let admin: ApiClient;
  let kubectl: Kubectl;

  const builds = new Map<string, Promise<readonly KubernetesObject[]>>();
  /** Built once. */
  const build = (kustomization: string): Promise<readonly KubernetesObject[]> => {
    const built = builds.get(kustomization) ?? kustomize(kustomization);
    builds.set(kustomization, built);
    return built;
  };
  const kustomize = async (kustomization: string): Promise<readonly KubernetesObject[]> => {
    const text = await kubectl.succeed(['kustomize', repositoryPath(kustomization)]);
    return parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
  };
  /** A dry run of a pod in its namespace. */
  const admit = (pod: KubernetesObject, namespace: string): Promise<ApiResponse> =>
    admin.request({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/pods?dryRun=All&fieldValidation=Strict`,
      body: { ...pod, metadata: { ...pod.metadata, namespace } },
    });

  before(async () => {
    controlPlane = await startControlPlane({ loops: 'off', auditLog: false });
    admin = createApiClient(controlPlane.connectionOf('admin'));
    kubectl = bindKubectl({
      program: controlPlane.kubectlPath,
      kubeconfigPath: controlPlane.kubeconfigPath,
      cacheDirectory: path.join(directory, 'cache'),
    });
    await applyFiles(admin, [repositoryPath('infra/watcher/rbac.yaml')]);
    const names = [...OTHER_NAMESPACES, 'restricted'];
    for (const name of names) {
      const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
      const metadata = name === 'restricted' ? { name, labels } : { name };
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata };
      const made = await admin.request({
        method: 'POST',
        path: '/api/v1/namespaces',
        body: namespace,
      });
      assert.equal(made.status, 201, messageOf(made));
    }
  });

  after(async () => {
    admin.close();
    await controlPlane.stop();
    rmSync(directory, { recursive: true });
  });

  it('finds the kustomizations, the watcher’s and the functions’ among them', () => {
    for (const name of ['infra/watcher', 'infra/functions', 'infra/overlays/watcher/eks-irsa'])
      assert.ok(KUSTOMIZATIONS.includes(name), name);
  });

  for (const kustomization of KUSTOMIZATIONS) {
    it(`${kustomization} passes a server-side dry run`, async () => {
      const objects = await build(kustomization);
      const { code, stdout, stderr } = await kubectl.run([
        ...DRY_RUN,
        '-k',
        repositoryPath(kustomization),
      ]);
      assert.equal(code, 0, stderr);
      assert.equal(stdout.trim().split('\n').length, objects.length, stdout);
      // Of the namespace and whatever else was not made by kubectl it says so.
      const warnings = stderr
        .split('\n')
        .filter((line) => line.startsWith('Warning: ') && !line.includes('last-applied'));
      assert.equal(warnings.length, podsOf(objects).length, stderr);
      for (const warning of warnings) assert.match(warning, RESTRICTED_VIOLATIONS, kustomization);
    });

    it(`${kustomization}: its pods are admitted as the namespace is labelled`, async () => {
      const accounts = (await build(kustomization)).filter(({ kind }) => kind === 'ServiceAccount');
      for (const account of accounts) {
        const path = '/api/v1/namespaces/rollcall-system/serviceaccounts';
        await admin.request({ method: 'POST', path, body: account });
      }
      for (const pod of podsOf(await build(kustomization))) {
        const answer = await admit(pod, 'rollcall-system');
        assert.equal(answer.status, 201, messageOf(answer));
      }
    });
  }

  it('a namespace at the level `restricted` refuses the pods, for the node’s network alone', async () => {
    const account = { metadata: { name: 'rollcall-watcher', namespace: 'restricted' } };
    const path = '/api/v1/namespaces/restricted/serviceaccounts';
    await admin.request({ method: 'POST', path, body: account });
    const [pod] = podsOf(await build('infra/watcher'));
    assert.ok(pod !== undefined);
    const answer = await admit(pod, 'restricted');
    assert.equal(answer.status, 403);
    assert.match(messageOf(answer), /violates PodSecurity "restricted:latest"/);
    assert.match(messageOf(answer), RESTRICTED_VIOLATIONS);
  });

  it('the kustomization in docs/install.md leaves nothing to fill in, also with two replicas', async () => {
    const page = readFileSync(repositoryPath('docs/install.md'), 'utf8');
    const [, text = ''] = page.split('### With kustomize');
    const [example = '', component = ''] = [...text.matchAll(/```yaml\n([^]*?)```/g)].map(
      ([, block]) => block,
    );
    const copy = mkdtempSync(path.join(directory, 'example-'));
    const toInfra = path.relative(copy, repositoryPath('infra'));
    const own = `${example}${component}`.replaceAll('../rollcall/infra', toInfra);
    writeFileSync(path.join(copy, 'kustomization.yaml'), own);
    const built = await kubectl.succeed(['kustomize', copy]);
    assert.doesNotMatch(built, /: <[^<>]+>$|registry\.invalid/m);
    assert.match(built, /replicas: 2/);
    assert.match(built, /ROLLCALL_LEASE_START: stand-by/);
    assert.match(built, /image: registry\.example\.com\/rollcall-watcher:0\.1\.0/);
    await kubectl.succeed([...DRY_RUN, '-k', copy]);
  });

  it('functions that only ask a watcher may get and patch its Lease, and nothing else (S5, S6)', async () => {
    await kubectl.succeed(['apply', '-k', repositoryPath('infra/overlays/functions/takeover-eks')]);
    const can = async (...what: readonly string[]): Promise<string> => {
      const { stdout } = await kubectl.run(['auth', 'can-i', '--as=rollcall-requests', ...what]);
      return stdout.trim();
    };
    const lease = ['leases/rollcall-watcher', '-n', 'rollcall-system'];
    await pollUntil({ deadlineMs: 60_000, description: 'their rights in force' }, async () =>
      (await can('patch', ...lease)) === 'yes' ? true : undefined,
    );
    assert.equal(await can('get', ...lease), 'yes');
    assert.equal(await can('patch', 'leases/another', '-n', 'rollcall-system'), 'no');
    for (const right of [
      ['create', 'pods'],
      ['delete', 'pods'],
      ['get', 'pods'],
      ['patch', 'controllerrevisions'],
      ['update', 'daemonsets', '--subresource=status'],
      ['get', 'daemonsets'],
      ['create', 'events'],
      ['get', 'secrets'],
    ]) {
      assert.equal(await can(...right, '-A'), 'no', right.join(' '));
    }
  });

  it('an EKS access entry has the rights and the limits by its user name, and by nothing else (S5, S6)', async () => {
    await kubectl.succeed(['apply', '-k', repositoryPath('infra/overlays/functions/takeover-eks')]);
    const can = async (...who: readonly string[]): Promise<string> => {
      const { stdout } = await kubectl.run(['auth', 'can-i', 'create', 'pods', '-A', ...who]);
      return stdout.trim();
    };
    // The authorizer reads roles and bindings a moment after they are there.
    const description = 'the rights of the access entry in force';
    await pollUntil({ deadlineMs: 60_000, description }, async () =>
      (await can('--as=rollcall-functions')) === 'yes' ? true : undefined,
    );
    // Who is in the group under another name would escape the policy: it has no rights either.
    assert.equal(await can('--as=somebody', '--as-group=rollcall-functions'), 'no');
    assert.equal(await can('--as=system:serviceaccount:rollcall-system:rollcall-functions'), 'no');
    const container = { name: 'c', image: 'i' };
    const metadata = { name: 'free', namespace: 'node-agents' };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container] } };
    const input = JSON.stringify(pod);
    const create = (): ReturnType<Kubectl['run']> =>
      kubectl.run('create --dry-run=server --as=rollcall-functions -f -', {
        input,
      });
    const account = { metadata: { name: 'default', namespace: 'node-agents' } };
    const accounts = '/api/v1/namespaces/node-agents/serviceaccounts';
    await admin.request({ method: 'POST', path: accounts, body: account });
    // A policy takes effect within a second or so of its creation.
    const { stderr } = await pollUntil(
      { deadlineMs: 120_000, description: 'the policy denies' },
      async () => {
        const outcome = await create();
        return outcome.code === 0 ? undefined : outcome;
      },
    );
    assert.match(stderr, /a pod of Rollcall has one owner, the DaemonSet that controls it/);
  });

  describe('a planted typo fails', () => {
    for (const [what, { from, to, refusal }] of Object.entries(TYPOS)) {
      it(what, async () => {
        const copy = mkdtempSync(path.join(directory, 'typo-'));
        cpSync(repositoryPath('infra/watcher'), copy, { recursive: true });
        const file = path.join(copy, 'deployment.yaml');
        const text = readFileSync(file, 'utf8');
        assert.ok(text.includes(from));
        writeFileSync(file, text.replace(from, to));
        const { code, stderr } = await kubectl.run([...DRY_RUN, '-k', copy]);
        assert.notEqual(code, 0);
        assert.match(stderr, refusal);
      });
    }
  });
});

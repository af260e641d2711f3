/**
 * `rollcall cluster add` on servers that are not ours: the roles' template on MiniStack's CloudFormation and
 * IAM, the manifests on a real kube-apiserver by server-side apply.
 *
 * MiniStack checks no trust and no rights, and its CloudFormation knows no identity providers; what is
 * shown is that the template is taken, that names, path and policies arrive, and that a second run changes
 * nothing.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CloudFormationClient, DescribeStackEventsCommand } from '@aws-sdk/client-cloudformation';
import { CreateClusterCommand, DescribeAccessEntryCommand, EKSClient } from '@aws-sdk/client-eks';
import {
  CreateOpenIDConnectProviderCommand,
  GetRoleCommand,
  GetRolePolicyCommand,
  IAMClient,
} from '@aws-sdk/client-iam';
import { parseAllDocuments } from 'yaml';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { addClusterCommand } from '../../../src/cli/cluster/add/add-cluster.ts';
import { composeManifests, describeObject } from '../../../src/cli/cluster/manifests/manifests.ts';
import { runProgram } from '../../../src/cli/command-line/run-program.ts';
import { clusterId } from '../../../src/core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { CommandRun, CommandWorld } from '../../support/command-world.ts';
import { TOOLS, skipWithoutTools } from '../../support/require-tool.ts';
import { startMiniStack, type RunningServer } from '../aws/reference-servers.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { repositoryPath } from '../scenarios/repository.ts';

const ISSUER = 'https://issuer.example/clusters/a';
const skip = skipWithoutTools([TOOLS.go, TOOLS.python]);
/** Where the AWS clients of a command look; put back in the end. */
const AWS_VARIABLES = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: 'eu-west-1',
};

/** What stands in the shipped files for these values, as the overlays print it. */
const SHIPPED = {
  '<name of the cluster>': 'a',
  '<url of the events queue>': 'https://sqs.eu-west-1.amazonaws.com/1/events.fifo',
  '<region of the events queue>': 'eu-west-1',
  '<region of the credentials queue>': 'eu-west-1',
  '<url of the credentials queue>': 'https://sqs.eu-west-1.amazonaws.com/1/credentials',
  '<arn of the credentials key>': 'arn:aws:kms:eu-west-1:1:key/1',
  "<arn of the watcher's role>": 'arn:aws:iam::1:role/watcher',
  "<arn of the renewer's role>": 'arn:aws:iam::1:role/renewer',
} as const;
const PLACEHOLDERS = /<[^<>\n]*>/g;
const VALUES = {
  id: SHIPPED['<name of the cluster>'],
  outputs: {
    EventsQueueArn: 'arn:aws:sqs:eu-west-1:1:events.fifo',
    EventsQueueUrl: SHIPPED['<url of the events queue>'],
    CredentialsQueueUrl: SHIPPED['<url of the credentials queue>'],
    CredentialsKeyArn: SHIPPED['<arn of the credentials key>'],
  },
  watcherRoleArn: SHIPPED["<arn of the watcher's role>"],
  renewerRoleArn: SHIPPED["<arn of the renewer's role>"],
};

describe('rollcall cluster add, on a real API server and MiniStack', { skip }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-cluster-add-'));
  const world = new CommandWorld();
  const earlier: Record<string, string | undefined> = {};
  let controlPlane: ControlPlane;
  let aws: RunningServer;
  let kubectl: Kubectl;

  before(async () => {
    [controlPlane, aws] = await Promise.all([
      startControlPlane({ loops: 'off', auditLog: false }),
      startMiniStack(),
    ]);
    for (const [name, value] of Object.entries({
      ...AWS_VARIABLES,
      AWS_ENDPOINT_URL: aws.endpoint,
    })) {
      earlier[name] = process.env[name];
      process.env[name] = value;
    }
    kubectl = bindKubectl({
      program: controlPlane.kubectlPath,
      kubeconfigPath: controlPlane.kubeconfigPath,
      cacheDirectory: path.join(directory, 'cache'),
    });
  });

  after(async () => {
    for (const [name, value] of Object.entries(earlier)) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
    await aws.stop();
    await controlPlane.stop();
    rmSync(directory, { recursive: true });
  });

  async function add(id: string, ...more: readonly string[]): Promise<CommandRun> {
    const out: string[] = [];
    const said: string[] = [];
    const exitCode = await runProgram({
      // Stage local, because the API server is on this machine.
      argv: ['cluster', 'add', id, '--stage', 'local', ...more, '--json'],
      name: 'rollcall',
      version: '0.0.0-test',
      modules: [addClusterCommand],
      environment: {},
      clock: createSystemClock(),
      random: createSystemRandom(),
      writeOut: (text) => out.push(text),
      writeError: (text) => said.push(text),
      terminals: { out: false, error: false },
      signal: new AbortController().signal,
      openCluster: () => Promise.reject(new Error('not asked for here')),
      openStack: (globals) => Promise.resolve(world.open(globals)),
    });
    return new CommandRun(exitCode, out.join(''), said.join(''));
  }

  const asked = (): readonly string[] => [
    ...['--kubeconfig', controlPlane.kubeconfigPath, '--same-account'],
    ...['--oidc-issuer', ISSUER, '--auth', 'bound-token', '--image', 'registry.example/w:1'],
  ];

  it('deploys the roles, registers their ids, and applies every manifest', async () => {
    const iam = new IAMClient({});
    await iam.send(
      new CreateOpenIDConnectProviderCommand({ Url: ISSUER, ClientIDList: ['sts.amazonaws.com'] }),
    );
    const added = (await add('a', ...asked(), '--apply')).expectExit(0);
    const applied = added.document()['applied'] as readonly { result: string; object: string }[];
    assert.deepEqual(
      applied.filter(
        ({ result, object }) => result !== 'created' && !object.startsWith('Namespace'),
      ),
      [],
    );
    const registration = await world.stores('local').registry.readCluster(clusterId('a'));
    const role = async (part: 'watcher' | 'renewer') => {
      const RoleName = `rollcall-local-a-${part}`;
      const { Role: found } = await iam.send(new GetRoleCommand({ RoleName }));
      const policy = await iam.send(new GetRolePolicyCommand({ RoleName, PolicyName: part }));
      return { ...found, policy: decodeURIComponent(policy.PolicyDocument ?? '') };
    };
    const [watcher, renewer] = [await role('watcher'), await role('renewer')];
    assert.equal(registration?.senderRoleId, watcher.RoleId);
    assert.deepEqual(registration?.authentication, {
      kind: 'bound-token',
      renewerRoleId: renewer.RoleId,
    });
    assert.equal(watcher.Path, '/rollcall/local/');
    const trust = decodeURIComponent(watcher.AssumeRolePolicyDocument ?? '');
    assert.match(
      trust,
      /"issuer\.example\/clusters\/a:sub": ?"system:serviceaccount:rollcall-system:rollcall-watcher"/,
    );
    assert.match(watcher.policy, /"sqs:SendMessage"/);
    assert.match(renewer.policy, /kms:EncryptionContext:clusterUid": ?"[0-9a-f-]{36}"/);
    const image = '{.spec.template.spec.containers[0].image}';
    const deployed = await kubectl.succeed([
      ...['-n', 'rollcall-system', 'get', 'deployment', 'rollcall-watcher'],
      ...['-o', `jsonpath=${image}`],
    ]);
    assert.equal(deployed, 'registry.example/w:1');
    const annotated = await kubectl.succeed([
      ...['-n', 'rollcall-system', 'get', 'configmap', 'rollcall-watcher'],
      ...['-o', 'jsonpath={.data.AWS_ROLE_ARN}'],
    ]);
    assert.equal(annotated, watcher.Arn);
    iam.destroy();
  });

  it('changes nothing when it is run again', async () => {
    const cloudFormation = new CloudFormationClient({});
    const countEvents = async (): Promise<number> => {
      const StackName = 'rollcall-local-cluster-a';
      const answer = await cloudFormation.send(new DescribeStackEventsCommand({ StackName }));
      return answer.StackEvents?.length ?? 0;
    };
    const events = await countEvents();
    const again = (await add('a', ...asked(), '--apply')).expectExit(0);
    assert.equal(again.document()['result'], 'present');
    const applied = again.document()['applied'] as readonly { result: string }[];
    assert.ok(applied.every(({ result }) => result === 'applied'));
    assert.equal(await countEvents(), events);
    assert.equal(
      (await world.stores('local').registry.readCluster(clusterId('a')))?.configVersion,
      1,
    );
    cloudFormation.destroy();
  });

  it('describes an EKS cluster, and makes its access entries once', async () => {
    const eks = new EKSClient({});
    await eks.send(
      new CreateClusterCommand({
        name: 'prod',
        roleArn: 'arn:aws:iam::000000000000:role/eks',
        resourcesVpcConfig: {},
        accessConfig: { authenticationMode: 'API' },
      }),
    );
    const more = ['--eks', 'prod', '--cluster-uid', 'u', '--same-account', '--auth', 'eks'];
    const sender = [
      '--sender-role-id',
      'AROAEKS',
      '--watcher-role-arn',
      'arn:aws:iam::1:role/rollcall/local/w',
    ];
    const run = async () => (await add('b', ...more, ...sender)).expectExit(0).document();
    const resultsOf = (document: Awaited<ReturnType<typeof run>>): readonly string[] =>
      (document['accessEntries'] as readonly { result: string }[]).map(({ result }) => result);
    assert.deepEqual(resultsOf(await run()), ['created', 'created']);
    // The stack of this world is made up: IAM knows no role of its names, so nobody can say how old one is.
    assert.deepEqual(resultsOf(await run()), ['unverified', 'unverified']);
    const principalArn = world.open({ stage: 'local' }).outputs.ClusterAccessRoleArns;
    const { accessEntry } = await eks.send(
      new DescribeAccessEntryCommand({ clusterName: 'prod', principalArn }),
    );
    assert.equal(accessEntry?.username, 'rollcall-functions');
    assert.deepEqual(accessEntry.kubernetesGroups, ['rollcall-functions']);
    const registration = await world.stores('local').registry.readCluster(clusterId('b'));
    assert.deepEqual(registration?.authentication, {
      kind: 'eks',
      clusterName: 'prod',
      region: 'eu-west-1',
    });
    eks.destroy();
  });

  for (const [overlays, choice] of [
    [['watcher/eks-irsa'], { credentials: 'irsa', authentication: 'none' }],
    [['watcher/eks-pod-identity'], { credentials: 'pod-identity', authentication: 'none' }],
    [
      ['watcher/eks-irsa', 'functions/takeover-eks'],
      { credentials: 'irsa', authentication: 'eks' },
    ],
    [
      ['watcher/eks-irsa', 'functions/copilot-eks'],
      { credentials: 'irsa', authentication: 'eks', mode: 'copilot' },
    ],
    [
      ['watcher/eks-irsa', 'functions/takeover', 'renewer/eks-irsa'],
      { credentials: 'irsa', authentication: 'bound-token' },
    ],
    [
      ['watcher/web-identity', 'functions/copilot', 'renewer/web-identity'],
      { credentials: 'web-identity', authentication: 'bound-token', mode: 'copilot' },
    ],
    [
      ['watcher/static-credentials', 'functions/takeover', 'renewer/static-credentials'],
      { credentials: 'static', authentication: 'bound-token' },
    ],
  ] as const) {
    it(`composes what kubectl kustomize prints of ${overlays.join(' and ')}`, async () => {
      const composed = composeManifests({ ...VALUES, ...choice });
      const expected: JsonObject[] = [];
      for (const name of overlays) {
        const text = await kubectl.succeed(['kustomize', repositoryPath(`infra/overlays/${name}`)]);
        const documents = parseAllDocuments(text.replaceAll(PLACEHOLDERS, fillPlaceholder));
        expected.push(...documents.map((document) => document.toJS() as JsonObject));
      }
      assert.deepEqual(byName(composed), byName(expected.filter(({ kind }) => kind !== 'Secret')));
    });
  }
});

function fillPlaceholder(placeholder: string): string {
  return (SHIPPED as Readonly<Record<string, string>>)[placeholder] ?? placeholder;
}

/**
 * Objects by their names, without the renewer's schedule, which is each cluster's own. kubectl's writer and
 * our reader take folded lines differently; it is white space in CEL.
 */
function byName(objects: readonly JsonObject[]): unknown {
  const plain = (name: string, value: unknown): unknown =>
    name === 'schedule' ? '' : typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : value;
  const named = objects.map((object) => [describeObject(object), object] as const);
  return JSON.parse(JSON.stringify(Object.fromEntries(named), plain)) as unknown;
}

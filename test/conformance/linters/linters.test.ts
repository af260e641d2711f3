/**
 * What others know of the files that we ship: cfn-lint on the packaged template and on the roles of a cluster, parliament
 * on every policy, hadolint on the Dockerfile, actionlint on the workflows. (Manifests go to a real API server,
 * test/conformance/manifests.) Each linter is shown to find a planted mistake; what is allowed is listed with its reason.
 */
import assert from 'node:assert/strict';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { repositoryRoot, runTool } from '../../../scripts/lib/run-tool.ts';
import type { ToolResult as ToolRun } from '../../../scripts/lib/run-tool.ts';
import { readYamlFile } from '@rollcall/local-aws/template/yaml-file.ts';
import { TOOLS, skipWithoutTools } from '../../support/require-tool.ts';
import { packageTemplate } from '../../support/template/package-template.ts';
import {
  alternatives,
  at,
  isMap,
  listOf,
  ofType,
  textOf,
} from '../../support/template/template.ts';
import type { Template, Value } from '../../support/template/template.ts';
import { ensureLinters, type Linters } from './install.ts';

/** A policy document, with where it stands. */
interface WrittenPolicy {
  readonly name: string;
  readonly document: Value;
}

const ARNS: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::Table': 'arn:aws:dynamodb:us-east-1:111122223333:table/example',
  'AWS::KMS::Key': 'arn:aws:kms:us-east-1:111122223333:key/11111111-2222-3333-4444-555555555555',
  'AWS::Logs::LogGroup': 'arn:aws:logs:us-east-1:111122223333:log-group:/aws/lambda/example:*',
  'AWS::SQS::Queue': 'arn:aws:sqs:us-east-1:111122223333:example',
};
/** Parameters of infra/cluster/roles.yml that are addresses. */
const PARAMETERS: Readonly<Record<string, string | undefined>> = {
  EventsQueueArn: ARNS['AWS::SQS::Queue'],
  CredentialsQueueArn: ARNS['AWS::SQS::Queue'],
  CredentialsKeyArn: ARNS['AWS::KMS::Key'],
  ClusterId: 'cluster',
  ClusterUid: 'uid',
};

function policiesOf(template: Template): readonly WrittenPolicy[] {
  return ofType(template, 'AWS::IAM::Role').flatMap(({ id, properties }) =>
    listOf(properties['Policies']).map((policy) => ({
      name: `${id}-${textOf(at(policy, 'PolicyName'))}`,
      document: resolve(at(policy, 'PolicyDocument') ?? null, template),
    })),
  );
}

/** The policies of queues and keys, as those of an identity: without their principals, and with their own resource. */
function resourcePoliciesOf(template: Template): readonly WrittenPolicy[] {
  const documents = [
    ...ofType(template, 'AWS::SQS::QueuePolicy').map(({ id, properties }) => ({
      ...{ name: id, property: 'PolicyDocument', properties, arn: ARNS['AWS::SQS::Queue'] },
    })),
    ...ofType(template, 'AWS::KMS::Key').map(({ id, properties }) => ({
      ...{ name: id, property: 'KeyPolicy', properties, arn: ARNS['AWS::KMS::Key'] },
    })),
  ];
  return documents.map(({ name, property, properties, arn = '' }) => {
    const statements = listOf(at(properties, property, 'Statement')).flatMap(alternatives);
    const own = statements.filter(isMap).map(({ Principal: _, ...statement }) => ({
      ...(resolve(statement, template) as Readonly<Record<string, Value>>),
      Resource: arn,
    }));
    return { name, document: { Version: '2012-10-17', Statement: own } };
  });
}

function resolve(value: Value, template: Template): Value {
  if (Array.isArray(value)) {
    return (value as readonly Value[]).flatMap(alternatives).map((one) => resolve(one, template));
  }
  if (!isMap(value)) return value;
  const [target] = listOf(at(value, 'Fn::GetAtt'));
  const ref = at(value, 'Ref');
  const id = typeof target === 'string' ? target : typeof ref === 'string' ? ref : undefined;
  if (id !== undefined) {
    const known = PARAMETERS[id] ?? ARNS[template.Resources[id]?.Type ?? ''];
    if (known === undefined) throw new Error(`a policy refers to ${id}: what is its ARN like?`);
    return known;
  }
  const substituted = at(value, 'Fn::Sub');
  if (typeof substituted === 'string') {
    return substituted
      .replaceAll('${AWS::Partition}', 'aws')
      .replaceAll('${AWS::Region}', 'us-east-1')
      .replaceAll('${AWS::AccountId}', '111122223333');
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, resolve(inner, template)]),
  );
}

/** What cfn-lint may say. Anything else is a finding. */
const ALLOWED_RULES: Readonly<Record<string, string>> = {
  W3005: 'osls writes DependsOn where a reference orders already',
  W8003: 'parameters of osls are texts by the time that CloudFormation compares them',
  W1030: 'names of an EKS cluster are empty where their resources are not made',
};
/** What Lambda demands for a VPC: these know no resource, and are denied to the function's code (infra/roles.yml). */
const ALLOWED_STARS = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:UnassignPrivateIpAddresses',
];
/** A virtual environment that was renamed is used by its python, not by its scripts. */
const CFN_LINT = 'import sys; from cfnlint.runner import main; sys.exit(main())';
/** Everything that can be chosen, so that no branch holds an empty text. */
const CHOSEN = {
  organisationId: 'o-example1234',
  alarmTopicArn: 'arn:aws:sns:us-east-1:111122223333:calls',
  subnetIds: 'subnet-0a1b2c3d4e5f60718',
  securityGroupIds: 'sg-0a1b2c3d4e5f60718',
  permissionsBoundaryArn: 'arn:aws:iam::111122223333:policy/boundary',
  endpointSuffixes: 'example.com',
};
const CLUSTER_ROLES = 'infra/cluster/roles.yml';
const DOCKERFILE = 'infra/watcher/Dockerfile';

describe('linters of others', { skip: skipWithoutTools([TOOLS.python, TOOLS.go]) }, () => {
  let linters: Linters;
  let template: Template;
  let directory: string;
  before(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'rollcall-linters-'));
    linters = await ensureLinters();
    template = await packageTemplate('ring1', CHOSEN);
  });
  after(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const write = (name: string, content: string): string => {
    const file = path.join(directory, name);
    writeFileSync(file, content);
    return file;
  };
  const run = (program: string, parameters: readonly string[]): Promise<ToolRun> =>
    runTool({ program, parameters, directory: repositoryRoot });

  async function lintTemplate(file: string): Promise<readonly string[]> {
    const result = await run(linters.python, [
      ...['-c', CFN_LINT, '-r', 'us-east-1', '-f', 'json', '-t', file],
    ]);
    const findings = JSON.parse(result.stdout) as readonly {
      readonly Rule: { readonly Id: string };
      readonly Message: string;
    }[];
    return findings
      .filter(({ Rule }) => !(Rule.Id in ALLOWED_RULES))
      .map(({ Rule, Message }) => `${Rule.Id}: ${Message}`);
  }

  async function lintPolicies(policies: readonly WrittenPolicy[]): Promise<readonly string[]> {
    const place = mkdtempSync(path.join(directory, 'policies-'));
    for (const { name, document } of policies) {
      writeFileSync(path.join(place, `${name}.json`), JSON.stringify(document));
    }
    const result = await run(linters.python, [
      ...['-m', 'parliament.cli', '--json', '--directory', place],
      ...['--include_policy_extension', 'json'],
    ]);
    assert.equal(result.stderr.includes('Traceback'), false, result.stderr);
    const findings = result.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { readonly issue: string; readonly detail: unknown });
    return findings
      .filter(
        ({ issue, detail }) =>
          issue !== 'RESOURCE_STAR' || JSON.stringify(detail) !== JSON.stringify(ALLOWED_STARS),
      )
      .map((finding) => JSON.stringify(finding));
  }

  it('cfn-lint finds nothing in the packaged template, nor in the roles of a cluster', async () => {
    const file = write('template.json', JSON.stringify(template));
    assert.deepEqual(await lintTemplate(file), []);
    assert.deepEqual(await lintTemplate(path.join(repositoryRoot, CLUSTER_ROLES)), []);
  });

  it('cfn-lint finds a planted mistake', async () => {
    const { ViewTable: table } = template.Resources;
    const broken = { ...table, Properties: { ...table?.Properties, BillingMode: 'FREE' } };
    // Of the whole template cfn-lint takes half a minute: one resource is as good a place for a mistake.
    const planted = { ...template, Conditions: {}, Outputs: {}, Resources: { ViewTable: broken } };
    const found = await lintTemplate(write('broken.json', JSON.stringify(planted)));
    assert.ok(
      found.some((one) => one.includes("'FREE'")),
      found.join('\n'),
    );
  });

  it('parliament finds nothing in any policy of roles, queues and key but what Lambda demands', async () => {
    const clusterRoles = readYamlFile(path.join(repositoryRoot, CLUSTER_ROLES));
    const policies = [
      ...policiesOf(template),
      ...resourcePoliciesOf(template),
      ...policiesOf(clusterRoles as unknown as Template),
    ];
    assert.equal(
      policies.length,
      12,
      'seven functions, two queues, the key, watcher and token renewer',
    );
    assert.deepEqual(await lintPolicies(policies), []);
  });

  it('parliament finds planted mistakes', async () => {
    const statement = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: '*' };
    const policy = (change: object): WrittenPolicy => ({
      name: Object.keys(change).join('-'),
      document: { Version: '2012-10-17', Statement: [{ ...statement, ...change }] },
    });
    const mistakes = [
      policy({ Action: 'sqs:SendMessages' }),
      policy({ Resource: 'arn:aws:dynamodb:us-east-1:111122223333:table/example' }),
      policy({ Condition: { StringEquals: { 'dynamodb:LeadingKeys': 'a' } } }),
      policy({}),
    ];
    for (const mistake of mistakes) {
      const found = await lintPolicies([mistake]);
      assert.ok(found.length > 0, JSON.stringify(mistake.document));
    }
  });

  it('hadolint finds nothing in the Dockerfile, and a planted mistake', async () => {
    const found = await run(linters.hadolint, [path.join(repositoryRoot, DOCKERFILE)]);
    assert.equal(found.exitCode, 0, found.stdout + found.stderr);
    const source = readFileSync(path.join(repositoryRoot, DOCKERFILE), 'utf8');
    const planted = write(
      'Dockerfile',
      source.replace('ENTRYPOINT [', 'RUN cd /tmp && ls\nENTRYPOINT ['),
    );
    const caught = await run(linters.hadolint, [planted]);
    assert.equal(caught.exitCode, 1);
    assert.match(caught.stdout, /DL3003/);
  });

  it('actionlint finds nothing in the workflows, and a planted mistake', async () => {
    const workflows = globSync('.github/workflows/*.yml', { cwd: repositoryRoot });
    assert.ok(workflows.length > 0);
    // Without the linters of scripts, which are there on some machines and not on others.
    const alone = ['-no-color', '-shellcheck=', '-pyflakes='];
    const found = await run(linters.actionlint, [...alone, ...workflows]);
    assert.equal(found.exitCode, 0, found.stdout + found.stderr);
    const place = path.join(directory, '.github/workflows');
    mkdirSync(place, { recursive: true });
    const file = path.join(place, 'ci.yml');
    const source = readFileSync(path.join(repositoryRoot, '.github/workflows/ci.yml'), 'utf8');
    writeFileSync(file, source.replace('github.ref', 'github.reff'));
    const caught = await run(linters.actionlint, [...alone, file]);
    assert.equal(caught.exitCode, 1);
    assert.match(caught.stdout, /"reff"/);
  });
});

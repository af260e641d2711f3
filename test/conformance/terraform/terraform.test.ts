/**
 * The Terraform modules: in the layout of `terraform fmt`, with no attribute that the provider does not have, and by
 * Terraform's own evaluation the same roles as the CloudFormation template makes of the same parameters. They were never
 * applied to AWS, nor validated with the provider itself.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { parse } from 'yaml';
import {
  ACCOUNT,
  evaluateTemplate,
  Expression,
  TextParts,
} from '@rollcall/local-aws/template/evaluate.ts';
import type { Evaluated as Value } from '@rollcall/local-aws/template/evaluate.ts';
import { checkParameters } from '../../../scripts/osls/check-parameters.mjs';
import { runTool } from '../../../scripts/lib/run-tool.ts';
import { terraformName, writeTerraform } from '../../../src/cli/cluster/roles/roles-terraform.ts';
import type { RolesParameters } from '../../../src/cli/cluster/roles/roles.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { evaluate, readModule, schemaOf, writtenResources } from './module.ts';

const MODULES = ['cluster-roles', 'stack-inputs'];
const TEMPLATE = readFileSync(repositoryPath('infra/cluster/roles.yml'), 'utf8');
const TYPES: Readonly<Record<string, string>> = {
  'AWS::IAM::Role': 'aws_iam_role',
  'AWS::IAM::OIDCProvider': 'aws_iam_openid_connect_provider',
  'AWS::EKS::PodIdentityAssociation': 'aws_eks_pod_identity_association',
};
const RENAMED: Readonly<Record<string, string>> = { role_name: 'name' };

const COMMON = {
  ClusterId: 'prod-1',
  ClusterUid: 'uid-1',
  SenderRolePath: '/rollcall/dev/',
  WatcherRoleName: 'rollcall-dev-prod-1-watcher',
  EventsQueueArn: 'arn:aws:sqs:eu-west-1:111122223333:events.fifo',
};
const RENEWER = {
  RenewerRoleName: 'rollcall-dev-prod-1-renewer',
  CredentialsQueueArn: 'arn:aws:sqs:eu-west-1:111122223333:credentials',
  CredentialsKeyArn: 'arn:aws:kms:eu-west-1:111122223333:key/1',
};
const PODS = {
  Trust: 'pod-identity',
  EksClusterArn: 'arn:aws:eks:eu-west-1:111122223333:cluster/prod',
  EksClusterName: 'prod',
};
const ISSUER = {
  Trust: 'web-identity',
  OidcIssuer: 'issuer.example/id/1',
  OidcAudience: 'sts.amazonaws.com',
};
const BOUNDARY = { PermissionsBoundaryArn: 'arn:aws:iam::111122223333:policy/boundary' };

const CASES: Readonly<Record<string, RolesParameters>> = {
  'pods of EKS, without a renewer': { ...COMMON, ...PODS },
  'pods of EKS, with a renewer and a boundary': { ...COMMON, ...PODS, ...RENEWER, ...BOUNDARY },
  'an issuer that is known': { ...COMMON, ...ISSUER },
  'an issuer that is made known, with a renewer': {
    ...{ ...COMMON, ...ISSUER, ...RENEWER },
    CreateOidcProvider: 'yes',
  },
};

describe('the Terraform modules', { skip: skipWithoutTools([TOOLS.terraform]) }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-terraform-'));
  after(() => {
    rmSync(directory, { recursive: true });
  });

  it('have the layout of terraform fmt', async () => {
    const parameters = ['fmt', '-check', '-recursive', '-diff', repositoryPath('infra/terraform')];
    const { exitCode, stdout } = await runTool({ program: 'terraform', parameters, directory });
    assert.equal(exitCode, 0, stdout);
  });

  for (const name of MODULES) {
    it(`${name} gives each resource what the provider has, and all that it demands`, async () => {
      const resources = writtenResources(readModule(name));
      assert.ok(resources.length > 4);
      for (const { type, attributes, blocks } of resources) {
        await checkNames(type, '', attributes);
        for (const [block, inner] of blocks) await checkNames(type, block, inner);
      }
      await assert.rejects(checkNames('aws_iam_role', '', ['assume_role']), /assume_role/);
    });
  }

  for (const [title, parameters] of Object.entries(CASES)) {
    it(`cluster-roles, as printed, makes what CloudFormation makes: ${title}`, async () => {
      const folder = path.join(directory, title.replaceAll(/\W+/g, '-'));
      const { resources, outputs } = await evaluate(writeTerraform(parameters), folder);
      const wanted = wantedResources(parameters);
      assert.deepEqual([...resources.keys()].sort(), [...wanted.keys()].sort());
      for (const [name, attributes] of wanted) {
        assert.deepEqual(withDocuments(resources.get(name)), attributes, name);
      }
      const names = Object.keys(evaluateTemplate(TEMPLATE, parameters).outputs).map(terraformName);
      assert.deepEqual(Object.keys(outputs).sort(), names.sort());
    });
  }

  it('cluster-roles refuses what the template refuses', async () => {
    const wrong = { ...COMMON, ...ISSUER, OidcIssuer: 'https://issuer.example:6443' };
    const made = evaluate(writeTerraform(wrong), path.join(directory, 'wrong'));
    await assert.rejects(made, /oidc_issuer is an address without https/);
  });

  it('stack-inputs gives parameters that the stack has and takes', async () => {
    const given = {
      stage: 'prod',
      vpc_id: 'vpc-1',
      organisation_id: 'o-abc1234567',
      event_bus_name: 'decisions',
    };
    const filled = Object.entries(given).map(([name, value]) => `${name} = "${value}"`);
    const call = [
      ...['module "inputs" {', '  source = "./inputs"', ...filled],
      ...['  subnet_ids = ["subnet-1a", "subnet-2b"]', '}', ''],
      'output "parameters" {\n  value = module.inputs.parameters\n}',
      'output "options" {\n  value = module.inputs.deploy_options\n}',
    ];
    const folder = path.join(directory, 'stack-inputs');
    const { outputs } = await evaluate(readModule('stack-inputs'), folder, call.join('\n'));
    const chosen = outputs['parameters'] as Readonly<Record<string, string>>;
    const { params } = parse(readFileSync(repositoryPath('serverless.yml'), 'utf8'), {
      logLevel: 'error',
    }) as {
      readonly params: { readonly default: Readonly<Record<string, unknown>> };
    };
    for (const name of Object.keys(chosen)) assert.ok(name in params.default, name);
    // As AWS would name what is made.
    const made = {
      securityGroupIds: 'sg-3c',
      alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:rollcall-prod-alarms',
    };
    assert.deepEqual(
      [chosen['securityGroupIds'], chosen['alarmTopicArn']],
      ['id of functions', 'arn of alarms'],
    );
    const faults = checkParameters({ stage: 'prod', region: 'eu-west-1', ...chosen, ...made });
    assert.deepEqual(faults, []);
    assert.match(String(outputs['options']), /--param="organisationId=o-abc1234567"/);
  });
});

async function checkNames(type: string, block: string, names: readonly string[]): Promise<void> {
  const schema = await schemaOf(type, block);
  for (const name of names) assert.ok(schema.has(name), `${type} ${block} has no ${name}`);
  for (const [name, isDemanded] of schema) {
    assert.ok(!isDemanded || names.includes(name), `${type} ${block} lacks ${name}`);
  }
}

/** The template's resources in the words of the provider; a policy of a role is a resource there. */
function wantedResources(parameters: RolesParameters): ReadonlyMap<string, unknown> {
  const wanted = new Map<string, unknown>();
  for (const { id, type, properties } of evaluateTemplate(TEMPLATE, parameters).resources) {
    const { Policies: policies = [], ...attributes } = properties;
    const name = terraformName(id);
    const entries = Object.entries(attributes).map(([property, value]) => {
      const snake =
        property === 'AssumeRolePolicyDocument' ? 'assume_role_policy' : terraformName(property);
      return [RENAMED[snake] ?? snake, plain(value)];
    });
    wanted.set(`${TYPES[type] ?? type}.${name}`, Object.fromEntries(entries));
    for (const policy of plain(policies) as readonly Readonly<Record<string, unknown>>[]) {
      const { PolicyName, PolicyDocument } = policy;
      const body = { name: PolicyName, role: `id of ${name}`, policy: PolicyDocument };
      wanted.set(`aws_iam_role_policy.${name}`, body);
    }
  }
  return wanted;
}

/** A value with what the account would say, as {@link evaluate} makes it up. */
function plain(value: Value): unknown {
  if (value instanceof Expression) {
    if (value.target === ACCOUNT)
      return { AccountId: '111122223333', Partition: 'aws' }[value.attribute];
    return `${terraformName(value.attribute)} of ${terraformName(value.target)}`;
  }
  if (value instanceof TextParts) {
    return value.parts.map((part) => (typeof part === 'string' ? part : plain(part))).join('');
  }
  if (Array.isArray(value)) return (value as readonly Value[]).map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}

function withDocuments(attributes: Readonly<Record<string, unknown>> = {}): unknown {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      name.endsWith('policy') ? (JSON.parse(String(value)) as unknown) : value,
    ]),
  );
}

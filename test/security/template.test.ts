/**
 * The template that is deployed keeps its rules (S6, S11, S12, row 69, protocol 23, and what AWS enforces where
 * emulators do not): rights, queues, tables, endpoints, logs, alarms, outputs. Every rule is shown to fail on a template that breaks it.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { egressPolicy } from '../../functions/egress-policy.ts';
import { repositoryRoot } from '../../scripts/lib/run-tool.ts';
import { compareTemplates, TYPE_RULES } from '../../scripts/release-diff/compare-templates.ts';
import { readYamlFile } from '@rollcall/local-aws/template/yaml-file.ts';
import { alarmRules } from '../support/template/alarm-rules.ts';
import { deployerFaults, deployerRules } from '../support/template/deployer-rules.ts';
import { firstDeploymentRules, replayFailure } from '../support/template/first-deployment.ts';
import { frozenRules } from '../support/template/frozen-rules.ts';
import { functionRules } from '../support/template/function-rules.ts';
import { keyRules } from '../support/template/key-rules.ts';
import { memberRules } from '../support/template/member-rules.ts';
import { packageTemplate } from '../support/template/package-template.ts';
import { queueRules } from '../support/template/queue-rules.ts';
import { rightsRules } from '../support/template/rights-rules.ts';
import { at, ofType, textOf, type Template } from '../support/template/template.ts';
import { VIOLATIONS } from '../support/template/violations.ts';
import { watchRules } from '../support/template/watch-rules.ts';

const RULES = [
  ...rightsRules,
  ...queueRules,
  ...memberRules,
  ...keyRules,
  ...frozenRules,
  ...deployerRules,
  ...firstDeploymentRules,
  ...functionRules,
  ...watchRules,
  ...alarmRules,
];
const STAGE = 'ring1';
const LOCAL_STAGE = 'local';
const ORGANISATION = 'o-example1234';
const BOUNDARY = 'arn:aws:iam::000000000000:policy/boundary';
const TOPIC = 'arn:aws:sns:us-east-1:000000000000:calls';

describe('the packaged template (issue 7)', () => {
  let plain: Template;
  let chosen: Template;
  before(async () => {
    // One after the other: the second finds what the first has compiled.
    plain = await packageTemplate(STAGE);
    chosen = await packageTemplate(LOCAL_STAGE, {
      organisationId: ORGANISATION,
      alarmTopicArn: TOPIC,
      subnetIds: 'subnet-1,subnet-2',
      securityGroupIds: 'sg-1',
      permissionsBoundaryArn: BOUNDARY,
      logRetentionDays: '90',
      endpointSuffixes: 'example.com',
    });
  });

  for (const { name, check } of RULES) {
    it(`${name}`, () => {
      assert.deepEqual(check(plain, STAGE), [], 'without parameters');
      assert.deepEqual(check(chosen, LOCAL_STAGE), [], 'with all parameters, at stage local');
    });
  }

  for (const { rule, violation, plant } of VIOLATIONS) {
    it(`is caught when it breaks "${rule}": ${violation}`, () => {
      const broken = structuredClone(plain);
      plant(broken);
      assert.notDeepEqual(broken, plain, 'nothing was planted');
      const own = RULES.find(({ name }) => name === rule);
      assert.notDeepEqual(own?.check(broken, STAGE), []);
    });
  }

  it('has a planted violation for every rule', () => {
    const tried = new Set<string>(VIOLATIONS.map(({ rule }) => rule));
    assert.deepEqual(
      RULES.map(({ name }) => name).filter((name) => !tried.has(name)),
      [],
    );
  });

  it('finds, for the roles of a cluster too, what a failed first deployment would leave (F16)', () => {
    const file = readYamlFile(path.join(repositoryRoot, 'infra/cluster/roles.yml'));
    const { Resources: resources } = file as unknown as Template;
    const faults = (changed: Template['Resources']): readonly string[] =>
      Object.keys(changed).flatMap((failing) => replayFailure(changed, failing));
    assert.deepEqual(faults(resources), []);
    const { OidcProvider: provider } = resources;
    assert.ok(provider);
    const kept = { ...resources, OidcProvider: { ...provider, DeletionPolicy: 'Retain' } };
    assert.ok(faults(kept).includes('OidcProvider exists already'));
  });

  it('has only resources of which a release diff knows what can be changed (section 9.5)', () => {
    const types = new Set(Object.values(plain.Resources).map(({ Type }) => Type));
    assert.deepEqual(
      [...types].filter((type) => TYPE_RULES[type] === undefined),
      [],
    );
    assert.deepEqual(compareTemplates(plain, structuredClone(plain)), []);
  });

  it('misses each right of who deploys that the page leaves out (F16)', () => {
    const page = readFileSync(path.join(repositoryRoot, 'docs/operations.md'), 'utf8');
    for (const action of ['kms:PutKeyPolicy', 'lambda:PutFunctionRecursionConfig']) {
      assert.ok(page.includes(`\`${action}\``));
      const shortened = page.replaceAll(`\`${action}\``, '');
      assert.ok(
        deployerFaults(plain, shortened).some((fault) => fault.includes(action)),
        action,
      );
    }
  });

  it('lets nobody from outside in unless an organisation is named', () => {
    assert.deepEqual(at(plain.Conditions, 'HasOrganisation', 'Fn::Not', 0, 'Fn::Equals'), ['', '']);
    const named = at(chosen.Conditions, 'HasOrganisation', 'Fn::Not', 0, 'Fn::Equals');
    assert.deepEqual(named, [ORGANISATION, '']);
    const policies = ofType(chosen, 'AWS::SQS::QueuePolicy');
    assert.deepEqual(
      policies.map(({ properties }) => at(properties, 'Queues', 0, 'Ref')),
      ['EventsQueue', 'CredentialsQueue'],
    );
    for (const { properties } of policies) {
      const statement = at(properties, 'PolicyDocument', 'Statement', 0);
      assert.equal(at(statement, 'Condition', 'StringEquals', 'aws:PrincipalOrgID'), ORGANISATION);
    }
  });

  it('relaxes where functions may connect to at stage local, and there only outside of Lambda', () => {
    const stageOf = (template: Template): string => {
      const [one] = ofType(template, 'AWS::Lambda::Function');
      return textOf(at(one?.properties, 'Environment', 'Variables', 'ROLLCALL_STAGE'));
    };
    const loopback = (
      stage: string,
      more: Record<string, string> = {},
    ): 'allowed' | 'refused' | undefined =>
      egressPolicy({ ROLLCALL_STAGE: stage, ...more }).loopback;
    assert.equal(loopback(stageOf(plain)), 'refused');
    assert.equal(loopback(stageOf(chosen)), 'allowed');
    assert.equal(loopback(stageOf(chosen), { AWS_LAMBDA_FUNCTION_NAME: 'ingest' }), 'refused');
  });

  it('knows no level of logs at which metrics would be lost', () => {
    const file = readYamlFile(path.join(repositoryRoot, 'serverless.yml'));
    assert.deepEqual(at(file, 'custom', 'logLevels'), { INFO: 'INFO', DEBUG: 'DEBUG' });
  });

  it('refuses parameters before anything is packaged, by their names (F16)', async () => {
    await assert.rejects(
      packageTemplate(STAGE, { subnetIds: 'subnet-1', alarmTopicArn: TOPIC.replace('us-', 'eu-') }),
      /securityGroupIds: there are subnets[\s\S]*alarmTopicArn: the topic is in eu-east-1/,
    );
  });

  it('carries its parameters to where they count', () => {
    const [alarm] = ofType(chosen, 'AWS::CloudWatch::Alarm');
    assert.deepEqual(at(alarm?.properties, 'AlarmActions', 'Fn::If', 1), [TOPIC]);
    const [group] = ofType(chosen, 'AWS::Logs::LogGroup');
    assert.equal(group?.properties['RetentionInDays'], 90);
    const split = { 'Fn::Split': [',', 'subnet-1,subnet-2'] };
    const reconcile = chosen.Resources['ReconcileLambdaFunction']?.Properties;
    assert.deepEqual(at(reconcile, 'VpcConfig', 'Fn::If', 1, 'SubnetIds'), split);
    const role = chosen.Resources['ReconcileRole']?.Properties;
    assert.equal(at(role, 'PermissionsBoundary', 'Fn::If', 1), BOUNDARY);
    const variables = at(reconcile, 'Environment', 'Variables');
    assert.equal(at(variables, 'ROLLCALL_ENDPOINT_SUFFIXES'), 'example.com');
  });
});

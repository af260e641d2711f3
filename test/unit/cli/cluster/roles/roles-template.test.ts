/** infra/cluster/roles.yml as data: who is trusted with what, and what is printed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { clusterId, clusterUid } from '../../../../../src/core/model/identifiers.ts';
import { evaluateTemplate, type EvaluatedTemplate } from '@rollcall/local-aws/template/evaluate.ts';
import {
  terraformName,
  writeTerraform,
} from '../../../../../src/cli/cluster/roles/roles-terraform.ts';
import { fillTemplate, rolesParameters } from '../../../../../src/cli/cluster/roles/roles.ts';
import type { ClusterRolesRequest, RoleTrust } from '../../../../../src/cli/cluster/roles/roles.ts';

const FILE = new URL('../../../../../infra/cluster/roles.yml', import.meta.url);
const SOURCE = readFileSync(FILE, 'utf8');

const POD_IDENTITY: RoleTrust = {
  kind: 'pod-identity',
  clusterArn: 'arn:aws:eks:eu-west-1:111122223333:cluster/prod',
  clusterName: 'prod',
};
const WEB_IDENTITY: RoleTrust = {
  kind: 'web-identity',
  issuer: 'https://issuer.example/id/1',
  audience: 'sts.amazonaws.com',
  provider: 'missing',
};

const OUTPUTS: ClusterRolesRequest['outputs'] = {
  SenderRolePath: '/rollcall/dev/',
  EventsQueueArn: 'arn:events',
  CredentialsQueueArn: 'arn:credentials',
  CredentialsKeyArn: 'arn:key',
};

function request(trust: RoleTrust, change: Partial<ClusterRolesRequest> = {}): ClusterRolesRequest {
  return {
    stage: 'dev',
    id: clusterId('prod-1'),
    clusterUid: clusterUid('uid-1'),
    outputs: OUTPUTS,
    hasRenewer: false,
    trust,
    ...change,
  };
}

const evaluate = (trust: RoleTrust, change: Partial<ClusterRolesRequest> = {}): EvaluatedTemplate =>
  evaluateTemplate(SOURCE, rolesParameters(request(trust, change)));

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: string;
  readonly Condition?: unknown;
}

/** Properties of a role as plain values. */
interface RoleProperties {
  readonly AssumeRolePolicyDocument: { readonly Statement: readonly unknown[] };
  readonly Policies: readonly { readonly PolicyDocument: { readonly Statement: Statement[] } }[];
}

function roleOf(template: EvaluatedTemplate, id: string): RoleProperties {
  const found = template.resources.find((resource) => resource.id === id);
  assert.ok(found !== undefined, `there is no ${id}`);
  // Properties are JSON with expressions; the test looks at plain ones only.
  return found.properties as unknown as RoleProperties;
}

const rightsOf = ({ Policies: policies }: RoleProperties): readonly Statement[] =>
  policies.flatMap(({ PolicyDocument: document }) => document.Statement);

describe('the roles of a cluster', () => {
  it('let the watcher send to the events queue, and nothing else (row 69)', () => {
    const watcher = roleOf(evaluate(POD_IDENTITY, { hasRenewer: true }), 'WatcherRole');
    assert.deepEqual(rightsOf(watcher), [
      {
        Sid: 'SendEvents',
        Effect: 'Allow',
        Action: 'sqs:SendMessage',
        Resource: 'arn:events',
      },
    ]);
  });

  it('let the renewer seal for its own cluster only (S6, row 69)', () => {
    const renewer = roleOf(evaluate(POD_IDENTITY, { hasRenewer: true }), 'RenewerRole');
    const [send, seal, ...others] = rightsOf(renewer);
    assert.deepEqual([send?.Action, send?.Resource], ['sqs:SendMessage', 'arn:credentials']);
    assert.deepEqual([seal?.Action, seal?.Resource], ['kms:Encrypt', 'arn:key']);
    assert.deepEqual(seal?.Condition, {
      StringEquals: {
        'kms:EncryptionContext:cluster': 'prod-1',
        'kms:EncryptionContext:clusterUid': 'uid-1',
      },
    });
    assert.deepEqual(others, []);
  });

  it('are bounded where a policy is named, and else name none (F16 f)', () => {
    const permissionsBoundaryArn = 'arn:aws:iam::111122223333:policy/boundary';
    const bounded = evaluate(POD_IDENTITY, { hasRenewer: true, permissionsBoundaryArn });
    const plain = evaluate(POD_IDENTITY, { hasRenewer: true });
    for (const id of ['WatcherRole', 'RenewerRole']) {
      const boundaryIn = ({ resources }: typeof plain): unknown =>
        resources.find((resource) => resource.id === id)?.properties['PermissionsBoundary'];
      assert.equal(boundaryIn(bounded), permissionsBoundaryArn);
      assert.equal(boundaryIn(plain), undefined);
    }
  });

  it('make no renewer unless one is asked for', () => {
    const ids = evaluate(POD_IDENTITY).resources.map(({ id }) => id);
    assert.deepEqual(ids, ['WatcherRole', 'WatcherAssociation']);
    assert.deepEqual(Object.keys(evaluate(POD_IDENTITY).outputs), [
      'WatcherRoleArn',
      'WatcherRoleId',
    ]);
  });

  it('trust pods of one service account of one EKS cluster', () => {
    const { AssumeRolePolicyDocument: trust } = roleOf(evaluate(POD_IDENTITY), 'WatcherRole');
    assert.deepEqual(trust.Statement, [
      {
        Effect: 'Allow',
        Principal: { Service: 'pods.eks.amazonaws.com' },
        Action: ['sts:AssumeRole', 'sts:TagSession'],
        Condition: {
          ArnEquals: { 'aws:SourceArn': 'arn:aws:eks:eu-west-1:111122223333:cluster/prod' },
          StringEquals: {
            'aws:RequestTag/kubernetes-namespace': 'rollcall-system',
            'aws:RequestTag/kubernetes-service-account': 'rollcall-watcher',
          },
        },
      },
    ]);
  });

  it('trust tokens of one service account of one issuer, for one audience', () => {
    const template = evaluate(WEB_IDENTITY, { hasRenewer: true });
    for (const [id, account] of [
      ['WatcherRole', 'rollcall-watcher'],
      ['RenewerRole', 'rollcall-renewer'],
    ] as const) {
      const [statement] = roleOf(template, id).AssumeRolePolicyDocument.Statement;
      const { Action: action, Condition: condition } = statement as Readonly<
        Record<string, unknown>
      >;
      assert.equal(action, 'sts:AssumeRoleWithWebIdentity');
      assert.deepEqual(condition, {
        StringEquals: {
          'issuer.example/id/1:sub': `system:serviceaccount:rollcall-system:${account}`,
          'issuer.example/id/1:aud': 'sts.amazonaws.com',
        },
      });
    }
  });

  it('make an issuer known only where it is not', () => {
    const idsWith = (provider: 'missing' | 'present'): readonly string[] =>
      evaluate({ ...WEB_IDENTITY, provider }).resources.map(({ id }) => id);
    assert.deepEqual(idsWith('missing'), ['OidcProvider', 'WatcherRole']);
    assert.deepEqual(idsWith('present'), ['WatcherRole']);
  });
});

describe('the printed template', () => {
  it('asks for nothing: every parameter is filled in, and nothing else changes', () => {
    const parameters = rolesParameters(request(WEB_IDENTITY, { hasRenewer: true }));
    const filled = parse(fillTemplate(SOURCE, parameters)) as {
      Parameters: Record<string, { Default?: string }>;
    };
    const original = parse(SOURCE) as typeof filled;
    for (const [name, declared] of Object.entries(filled.Parameters)) {
      assert.equal(typeof declared.Default, 'string', `${name} has no value`);
      if (parameters[name] !== undefined) assert.equal(declared.Default, parameters[name]);
    }
    assert.deepEqual({ ...filled, Parameters: {} }, { ...original, Parameters: {} });
  });
});

describe('the printed Terraform', () => {
  const write = (trust: RoleTrust, change: Partial<ClusterRolesRequest> = {}): string =>
    writeTerraform(rolesParameters(request(trust, change)));

  it('asks for nothing: every parameter of the template is a variable with a value', () => {
    const { Parameters: declared } = parse(SOURCE) as { Parameters: Record<string, unknown> };
    const parameters = rolesParameters(request(WEB_IDENTITY, { hasRenewer: true }));
    const text = write(WEB_IDENTITY, { hasRenewer: true });
    const variables = [...text.matchAll(/^variable "(\w+)" \{\n[^]*?\n\}\n/gm)];
    assert.deepEqual(
      variables.map(([, name]) => name).toSorted(),
      Object.keys(declared).map(terraformName).toSorted(),
    );
    for (const [block, name] of variables) {
      const [, value] = /^ {2}default {5}= (".*")$/m.exec(block) ?? [];
      const given = Object.entries(parameters).find(([key]) => terraformName(key) === name)?.[1];
      assert.ok(value !== undefined, `${String(name)} has no value`);
      if (given !== undefined) assert.equal(JSON.parse(value), given);
    }
  });

  it('lets no parameter begin an expression', () => {
    const EventsQueueArn = '${file("/etc/passwd")}%{ if true }"';
    const text = write(POD_IDENTITY, { outputs: { ...OUTPUTS, EventsQueueArn } });
    const escaped = [
      '"$',
      '${file(',
      String.raw`\"/etc/passwd\")}%`,
      '%{ if true }',
      String.raw`\""`,
    ];
    assert.ok(text.includes(escaped.join('')), text);
  });

  it('refuses a parameter that the module does not have, rather than to leave it out', () => {
    assert.throws(() => writeTerraform({ ClusterName: 'a' }), /has no ClusterName/);
  });
});

/** Rules about rights: exact, one role for each function, and nobody from outside but senders of the organisation. */
import {
  alternatives,
  at,
  isMap,
  listOf,
  ofType,
  referredId,
  textOf,
  textsIn,
} from './template.ts';
import type { Rule, Template, Value, ValueMap } from './template.ts';

/** A statement of a policy, with where it stands. */
interface Statement {
  readonly where: string;
  readonly owner: string;
  readonly kind: 'identity' | 'queue' | 'key';
  readonly condition: string | undefined;
  readonly body: ValueMap;
}

const EXACT_ACTION = /^[a-z0-9-]+:[A-Za-z]+$/;
/** Lambda's own, in a VPC: these actions know no resource. The function's code is denied them. */
const WITHOUT_RESOURCE = 'MakeInterfaces';
const DENIED_TO_CODE = 'KeepInterfacesFromCode';
const CONTEXT_KEYS = ['cluster', 'clusterUid'];
/** Of tokens that may only ask, and of all seals that are made: the purpose is optional there. */
const PURPOSE_KEYS = [...CONTEXT_KEYS, 'purpose'];
/** Functions that only ask (B.3): one reads what watchers send, the other follows the schedule. */
const ASKING = /-(ingest|resync)-/;

function statementsOf(document: Value | undefined): readonly ValueMap[] {
  return listOf(at(document, 'Statement')).flatMap(alternatives).filter(isMap);
}

function allStatements(template: Template): readonly Statement[] {
  const found = (
    type: string,
    kind: Statement['kind'],
    documents: (properties: ValueMap) => readonly (Value | undefined)[],
  ): Statement[] =>
    ofType(template, type).flatMap(({ id, resource, properties }) =>
      documents(properties)
        .flatMap(statementsOf)
        .map((body) => ({
          where: `${id}/${textOf(body['Sid'])}`,
          owner: id,
          kind,
          condition: resource.Condition,
          body,
        })),
    );
  return [
    ...found('AWS::IAM::Role', 'identity', ({ Policies }) =>
      listOf(Policies).map((policy) => at(policy, 'PolicyDocument')),
    ),
    ...found('AWS::SQS::QueuePolicy', 'queue', ({ PolicyDocument }) => [PolicyDocument]),
    ...found('AWS::KMS::Key', 'key', ({ KeyPolicy }) => [KeyPolicy]),
  ];
}

const allows = ({ body }: Statement): boolean => body['Effect'] === 'Allow';

const exactActions: Rule = {
  name: 'actions are exact',
  check: (template) =>
    allStatements(template)
      .filter(allows)
      .flatMap(({ where, body }) => {
        const inexact = listOf(body['Action']).filter((one) => !EXACT_ACTION.test(textOf(one)));
        const negated = ['NotAction', 'NotResource', 'NotPrincipal'].filter((key) => key in body);
        return [...inexact.map(textOf), ...negated].map((what) => `${where}: ${what}`);
      }),
};

const exactResources: Rule = {
  name: 'resources are exact',
  check: (template) => {
    const statements = allStatements(template);
    const isDenied = (owner: string, actions: Value | undefined): boolean =>
      statements.some(
        ({ owner: role, body }) =>
          role === owner &&
          body['Sid'] === DENIED_TO_CODE &&
          body['Effect'] === 'Deny' &&
          JSON.stringify(body['Action']) === JSON.stringify(actions) &&
          at(body, 'Condition', 'Null', 'lambda:SourceFunctionArn') === 'false',
      );
    return statements.filter(allows).flatMap(({ where, owner, kind, body }) => {
      // In a key policy it is the key itself.
      if (kind === 'key') return [];
      if (body['Sid'] === WITHOUT_RESOURCE && isDenied(owner, body['Action'])) return [];
      const resources = listOf(body['Resource']);
      const wild = resources.filter((one) => textsIn(one).some((text) => text.includes('*')));
      return resources.length === 0 || wild.length > 0 ? [`${where}: any resource`] : [];
    });
  },
};

const oneRoleEach: Rule = {
  name: 'every function has a role of its own, and there are no others',
  check: (template) => {
    const roles = ofType(template, 'AWS::IAM::Role');
    const used = ofType(template, 'AWS::Lambda::Function').map(({ id, properties }) => ({
      id,
      role: referredId(properties['Role']) ?? JSON.stringify(properties['Role'] ?? null),
    }));
    const shared = used.filter(({ role }) => used.filter((one) => one.role === role).length > 1);
    const unknown = used.filter(({ role }) => !roles.some(({ id }) => id === role));
    const idle = roles.filter(({ id }) => !used.some(({ role }) => role === id));
    const trusting = roles.filter(({ properties }) => {
      const statements = statementsOf(properties['AssumeRolePolicyDocument']);
      const isLambdas = at(statements[0], 'Principal', 'Service') === 'lambda.amazonaws.com';
      return statements.length !== 1 || !isLambdas || 'ManagedPolicyArns' in properties;
    });
    return [
      ...shared.map(({ id, role }) => `${id} shares ${role}`),
      ...unknown.map(({ id, role }) => `${id} names ${role}`),
      ...idle.map(({ id }) => `${id} is nobody's`),
      ...trusting.map(({ id }) => `${id} trusts or takes more than it says`),
    ];
  },
};

const keptInterfaces: Rule = {
  name: 'a role whose function may be in a VPC may always delete its interfaces, and its code never (F12)',
  check: (template) =>
    ofType(template, 'AWS::Lambda::Function')
      .filter(({ properties }) => 'VpcConfig' in properties)
      .flatMap(({ id, properties }) => {
        const role = template.Resources[referredId(properties['Role']) ?? ''];
        const statements = listOf(role?.Properties?.['Policies']).flatMap((policy) =>
          listOf(at(policy, 'PolicyDocument', 'Statement')),
        );
        // Not inside of Fn::If: the right must outlast the parameters.
        const has = (sid: string, effect: string): boolean =>
          statements.some(
            (one) =>
              at(one, 'Sid') === sid &&
              at(one, 'Effect') === effect &&
              listOf(at(one, 'Action')).includes('ec2:DeleteNetworkInterface'),
          );
        return [
          ...(has(WITHOUT_RESOURCE, 'Allow') ? [] : [`${id} strands its interfaces`]),
          ...(has(DENIED_TO_CODE, 'Deny') ? [] : [`${id}: its code may delete interfaces`]),
        ];
      }),
};

const onlySenders: Rule = {
  name: 'nobody from outside may do anything but send, from roles of the organisation under the path',
  check: (template, stage) =>
    allStatements(template).flatMap(({ where, kind, condition, body }) => {
      const principal = body['Principal'];
      if (kind === 'identity' || !allows({ body } as Statement)) return [];
      const isAnybody = principal === '*' || at(principal, 'AWS') === '*';
      if (!isAnybody) return kind === 'queue' ? [`${where}: names a principal`] : [];
      const conditions = body['Condition'];
      const faults: string[] = [];
      const action = kind === 'queue' ? 'sqs:SendMessage' : 'kms:Encrypt';
      if (body['Action'] !== action) faults.push('more than sending');
      if (at(conditions, 'StringEquals', 'aws:PrincipalOrgID') === undefined) {
        faults.push('any organisation');
      }
      const path = `arn:*:iam::*:role/rollcall/${stage}/*`;
      if (at(conditions, 'ArnLike', 'aws:PrincipalArn') !== path) faults.push('any role');
      // A statement of a key stands inside Fn::If; a queue's policy is conditional as a whole.
      if (kind === 'queue' && condition !== 'HasOrganisation') faults.push('without organisation');
      return faults.map((fault) => `${where}: ${fault}`);
    }),
};

/** True for a statement that is bound to tokens that ask. */
function isForAsking(conditions: Value | undefined): boolean {
  return at(conditions, 'StringEquals', 'kms:EncryptionContext:purpose') === 'ask';
}

/** Seals are made for both purposes; a token is opened for one of them. */
function contextFaults(
  conditions: Value | undefined,
  uses: readonly (Value | undefined)[],
): readonly string[] {
  const keys = at(conditions, 'ForAllValues:StringEquals', 'kms:EncryptionContextKeys');
  const asks = isForAsking(conditions);
  const isPurposed = asks || uses.every((action) => action === 'kms:Encrypt');
  const expected = isPurposed ? PURPOSE_KEYS : CONTEXT_KEYS;
  const missing = (asks ? PURPOSE_KEYS : CONTEXT_KEYS).filter(
    (key) => at(conditions, 'Null', `kms:EncryptionContext:${key}`) !== 'false',
  );
  return [
    ...(JSON.stringify(keys) === JSON.stringify(expected) ? [] : ['any context']),
    ...missing.map((key) => `context without ${key}`),
  ];
}

const keyOnlyWithContext: Rule = {
  name: 'the key seals and opens within a context only, for whom it names',
  check: (template) =>
    allStatements(template)
      .filter(allows)
      .flatMap(({ where, kind, body }) => {
        const uses = listOf(body['Action']).filter((action) =>
          /^kms:(Decrypt|Encrypt|ReEncrypt|GenerateDataKey|CreateGrant)/.test(textOf(action)),
        );
        if (uses.length === 0) return [];
        const conditions = body['Condition'];
        const faults = [...contextFaults(conditions, uses)];
        const arns = at(conditions, 'ArnEquals', 'aws:PrincipalArn');
        const like = at(conditions, 'ArnLike', 'aws:PrincipalArn');
        if (kind === 'key' && arns === undefined && like === undefined) faults.push('any role');
        const opens = uses.includes('kms:Decrypt');
        if (kind === 'key' && opens && textsIn(arns ?? '*').some((text) => text.includes('*'))) {
          faults.push('opened by whom it does not name');
        }
        return faults.map((fault) => `${where}: ${fault}`);
      }),
};

const askingOpensNothingElse: Rule = {
  name: 'who only asks opens and reads no token that acts (B.3)',
  check: (template) =>
    allStatements(template)
      .filter(allows)
      .flatMap(({ where, kind, owner, body }) => {
        const conditions = body['Condition'];
        const names =
          kind === 'key'
            ? textsIn(at(conditions, 'ArnEquals', 'aws:PrincipalArn') ?? '')
            : [textOf(template.Resources[owner]?.Properties?.['RoleName'])];
        if (!names.some((name) => ASKING.test(name))) return [];
        const opens = listOf(body['Action']).includes('kms:Decrypt');
        const asks = isForAsking(conditions);
        const keys = textsIn(
          at(conditions, 'ForAllValues:StringLike', 'dynamodb:LeadingKeys') ?? '',
        );
        return [
          ...(opens && !asks ? [`${where}: opens any token`] : []),
          ...(keys.some((key) => key.startsWith('CREDENTIAL#')) ? [`${where}: reads them`] : []),
        ];
      }),
};

const keyNamesRoles: Rule = {
  name: 'the key names exactly the roles that may open with it',
  check: (template) => {
    const opening = allStatements(template).filter(
      (one) => allows(one) && listOf(one.body['Action']).includes('kms:Decrypt'),
    );
    const named = opening
      .filter(({ kind }) => kind === 'key')
      .flatMap(({ body }) => textsIn(at(body, 'Condition', 'ArnEquals', 'aws:PrincipalArn') ?? ''))
      .map((arn) => arn.replace(/^.*:role\//, '').replace('${AWS::Region}', ''))
      .sort();
    const roles = opening
      .filter(({ kind }) => kind === 'identity')
      .map(({ owner }) => textOf(template.Resources[owner]?.Properties?.['RoleName']))
      .map((name) => name.replace(/[a-z]{2}-[a-z]+-\d$/, ''))
      .sort();
    const isSame = JSON.stringify(named) === JSON.stringify(roles);
    return isSame ? [] : [`named: ${named.join(' ')}; opening: ${roles.join(' ')}`];
  },
};

/** All of them. */
export const rightsRules: readonly Rule[] = [
  exactActions,
  exactResources,
  oneRoleEach,
  keptInterfaces,
  onlySenders,
  keyOnlyWithContext,
  askingOpensNothingElse,
  keyNamesRoles,
];

/** Rules about tables and the key: what is lost when, and who could read it. */
import { at, ofType } from './template.ts';
import type { Rule } from './template.ts';

const encryptedTables: Rule = {
  name: 'every table is encrypted and on demand',
  check: (template) =>
    ofType(template, 'AWS::DynamoDB::Table').flatMap(({ id, properties }) => [
      ...(at(properties, 'SSESpecification', 'SSEEnabled') === true
        ? []
        : [`${id} is not encrypted`]),
      ...(properties['BillingMode'] === 'PAY_PER_REQUEST' ? [] : [`${id} has a capacity`]),
    ]),
};

const plainTables: Rule = {
  name: 'no decision rests on an index or on an item that expires',
  check: (template) =>
    ofType(template, 'AWS::DynamoDB::Table').flatMap(({ id, properties }) =>
      ['GlobalSecondaryIndexes', 'LocalSecondaryIndexes', 'TimeToLiveSpecification']
        .filter((name) => name in properties)
        .map((name) => `${id}: ${name}`),
    ),
};

const keptRegistry: Rule = {
  name: 'the registry is never lost: recovery, protection, and it outlives the stack',
  check: (template) => {
    const registry = template.Resources['RegistryTable'];
    const properties = registry?.Properties;
    const recovery = at(
      properties,
      'PointInTimeRecoverySpecification',
      'PointInTimeRecoveryEnabled',
    );
    return [
      ...(recovery === true ? [] : ['no point-in-time recovery']),
      ...(at(properties, 'DeletionProtectionEnabled') === true ? [] : ['no deletion protection']),
      ...(registry?.DeletionPolicy === 'Retain' ? [] : ['goes with the stack']),
      ...(registry?.UpdateReplacePolicy === 'Retain' ? [] : ['goes with a replacement']),
    ];
  },
};

const rotatedKey: Rule = {
  name: 'the key is rotated, and its name leads to it',
  check: (template) => [
    ...ofType(template, 'AWS::KMS::Key')
      .filter(({ properties }) => properties['EnableKeyRotation'] !== true)
      .map(({ id }) => `${id} is never rotated`),
    ...ofType(template, 'AWS::KMS::Alias')
      .filter(({ properties }) => at(properties, 'TargetKeyId', 'Ref') !== 'CredentialsKey')
      .map(({ id }) => `${id} leads elsewhere`),
  ],
};

/** All of them. */
export const storeRules: readonly Rule[] = [encryptedTables, plainTables, keptRegistry, rotatedKey];

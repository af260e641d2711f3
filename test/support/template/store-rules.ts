/** Rules about tables and the key: what is lost when, and who could read it. */
import { registryNameOf } from '../../../scripts/osls/protect-registry.mjs';
import { at, ofType, type Rule } from './template.ts';

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
  name: 'no decision rests on an index, and nothing of the registry expires',
  check: (template) =>
    ofType(template, 'AWS::DynamoDB::Table').flatMap(({ id, properties }) =>
      [
        'GlobalSecondaryIndexes',
        'LocalSecondaryIndexes',
        // What happened goes by itself, and stands in the view's table (ADR 0082).
        ...(id === 'ViewTable' ? [] : ['TimeToLiveSpecification']),
      ]
        .filter((name) => name in properties)
        .map((name) => `${id}: ${name}`),
    ),
};

const keptRegistry: Rule = {
  name: 'the registry is never lost: recovery, and it outlives the stack; protection follows (F2)',
  check: (template, stage) => {
    const registry = template.Resources['RegistryTable'];
    const properties = registry?.Properties;
    const recovery = at(
      properties,
      'PointInTimeRecoverySpecification',
      'PointInTimeRecoveryEnabled',
    );
    return [
      ...(recovery === true ? [] : ['no point-in-time recovery']),
      ...(registry?.DeletionPolicy === 'RetainExceptOnCreate' ? [] : ['goes with the stack']),
      // The plugin protects the table of this name, once the deployment has succeeded (test/unit/scripts/osls).
      ...(properties?.['TableName'] === registryNameOf(`rollcall-${stage}`)
        ? []
        : ['is not the table that deployments protect']),
      ...(registry?.UpdateReplacePolicy === 'Retain' ? [] : ['goes with a replacement']),
    ];
  },
};

const rotatedKey: Rule = {
  name: 'the key is rotated',
  check: (template) =>
    ofType(template, 'AWS::KMS::Key')
      .filter(({ properties }) => properties['EnableKeyRotation'] !== true)
      .map(({ id }) => `${id} is never rotated`),
};

/** All of them. */
export const storeRules: readonly Rule[] = [encryptedTables, plainTables, keptRegistry, rotatedKey];

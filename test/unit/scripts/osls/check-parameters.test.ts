/** What a deployment may choose, refused before anything is packaged (F16). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { repositoryRoot } from '../../../../scripts/lib/run-tool.ts';
import { checkParameters } from '../../../../scripts/osls/check-parameters.mjs';
import RollcallPlugin from '../../../../scripts/osls/plugin.mjs';
import { readYamlFile } from '@rollcall/local-aws/template/yaml-file.ts';

const PLAIN = { stage: 'prod', region: 'eu-west-1' };
const ALL = {
  ...PLAIN,
  organisationId: 'o-abc1234567',
  alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:on-call',
  subnetIds: 'subnet-0a1,subnet-0b2',
  securityGroupIds: 'sg-0c3',
  permissionsBoundaryArn: 'arn:aws:iam::111122223333:policy/limits/boundary',
  endpointSuffixes: 'eks.amazonaws.com,.example.com',
  eventBusName: 'fleets',
};

/** Each is refused by the name of its parameter. */
const REFUSED: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
  ['stage', { stage: 'a-stage-of-twenty-nine-signs-x' }, /28 characters/],
  ['stage', { stage: 'Prod' }, /small letters/],
  ['organisationId', { organisationId: '111122223333' }, /organisation/],
  ['securityGroupIds', { subnetIds: 'subnet-0a1' }, /no security groups/],
  ['subnetIds', { securityGroupIds: 'sg-0c3' }, /no subnets/],
  ['subnetIds', { subnetIds: 'subnet-0a1, subnet-0b2', securityGroupIds: 'sg-0c3' }, /no subnet/],
  ['securityGroupIds', { subnetIds: 'subnet-0a1', securityGroupIds: 'default' }, /no security/],
  [
    'alarmTopicArn',
    { alarmTopicArn: ALL.alarmTopicArn.replace('eu-west-1', 'us-east-1') },
    /in us-/,
  ],
  ['alarmTopicArn', { alarmTopicArn: `${ALL.alarmTopicArn}.fifo` }, /no SNS topic/],
  ['alarmTopicArn', { alarmTopicArn: 'on-call' }, /no SNS topic/],
  ['permissionsBoundaryArn', { permissionsBoundaryArn: 'boundary' }, /managed policy/],
  ['endpointSuffixes', { endpointSuffixes: `${'a'.repeat(60)}.com,`.repeat(40) }, /4 KB/],
  ['endpointSuffixes', { endpointSuffixes: 'https://example.com' }, /no domain/],
  ['endpointSuffixes', { endpointSuffixes: 'a.example,' }, /no domain/],
  ['eventBusName', { eventBusName: 'arn:aws:events:eu-west-1:1:event-bus/x' }, /no name/],
];

describe('checkParameters (F16)', () => {
  it('lets through what is chosen well, and what is not chosen', () => {
    assert.deepEqual(checkParameters(PLAIN), []);
    assert.deepEqual(checkParameters(ALL), []);
    const china = {
      region: 'cn-north-1',
      alarmTopicArn: 'arn:aws-cn:sns:cn-north-1:111122223333:on-call',
      permissionsBoundaryArn: 'arn:aws-cn:iam::111122223333:policy/boundary',
    };
    assert.deepEqual(checkParameters({ ...PLAIN, ...china }), []);
  });

  for (const [field, change, problem] of REFUSED) {
    it(`refuses ${field}: ${JSON.stringify(change).slice(0, 70)}`, () => {
      const faults = checkParameters({ ...PLAIN, ...change });
      assert.deepEqual([...new Set(faults.map((fault) => fault.field))], [field]);
      const [{ problem: said, remedy } = { problem: '', remedy: '' }] = faults;
      assert.match(`${said} ${remedy}`, problem);
      assert.match(remedy, /^(Pass|Make)/);
    });
  }

  it('says everything at once, and stops the packaging', async () => {
    const chosen = { ...PLAIN, subnetIds: 'subnet-1', alarmTopicArn: 'on-call' };
    const serverless = {
      getProvider: (): never => assert.fail('nothing is asked of AWS'),
      service: { custom: { chosen } },
    };
    const plugin = new RollcallPlugin(serverless, {}, { log: { notice: () => undefined } });
    await assert.rejects(plugin.check(), /securityGroupIds: .*\nalarmTopicArn: /);
  });

  it('is told every parameter that it judges, as serverless.yml resolves them', () => {
    const source = readFileSync(path.join(repositoryRoot, 'serverless.yml'), 'utf8');
    const file = readYamlFile(path.join(repositoryRoot, 'serverless.yml')) as unknown as {
      custom: { chosen: Record<string, string> };
    };
    const { stage, region, alarms, ...others } = file.custom.chosen;
    assert.deepEqual([stage, region], ['${sls:stage}', '${self:provider.region}']);
    assert.equal(alarms, undefined, 'an alarm is chosen by a condition');
    assert.deepEqual(
      Object.keys(others).toSorted(),
      Object.keys(ALL)
        .filter((name) => !(name in PLAIN))
        .toSorted(),
    );
    for (const [name, value] of Object.entries(others)) {
      assert.equal(value, `\${param:${name}}`);
      assert.match(source, new RegExp(`^    ${name}: ''$`, 'm'), 'empty unless it is chosen');
    }
  });
});

/**
 * The policies of operators (infra/operators.yml): each allows the commands of its work, and nothing of another's (row 69).
 *
 * The real commands over the local tables and queues, whose IAM holds exactly one policy for each person. What Lambda and
 * EventBridge are asked by `stack stop` and `resume` cannot be tried here: there is no such service.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { startLocalAws, type LocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import { readManagedPolicy, resolveStatements } from '@rollcall/local-aws/iam/policy.ts';
import type { PolicyStatement } from '@rollcall/local-aws/iam/policy.ts';
import { readYamlFile } from '@rollcall/local-aws/template/yaml-file.ts';
import { runProgram } from '../../src/cli/command-line/run-program.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { openStack } from '../../src/cli/reach/open-stack.ts';
import { STACK_OUTPUT_NAMES } from '../../src/cli/reach/stack.ts';
import { SERVERLESS_FILE, STAGE, openStores } from '../../src/engine/engine-stores.ts';
import type { EngineStores } from '../../src/engine/engine-stores.ts';
import { fleetDocument } from '../support/fleet-samples.ts';
import { storeRollout } from '../support/rollout-stores.ts';

const OPERATORS_FILE = new URL('../../infra/operators.yml', import.meta.url).pathname;
const PEOPLE = {
  'on-call': 'OnCall',
  rollouts: 'Rollouts',
  releases: 'Releases',
  clusters: 'Clusters',
};
type Work = keyof typeof PEOPLE;
const WORKS = Object.keys(PEOPLE) as readonly Work[];

describe('the policies of operators (row 69)', () => {
  let aws: LocalAws;
  let stores: EngineStores;
  const granted = new Map<Work, readonly PolicyStatement[]>();
  /** Who asked for what. */
  const used = new Set<string>();
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-operators-'));
  const inDirectory = (name: string): string => path.join(directory, name);

  before(async () => {
    aws = await startLocalAws({ serverlessFile: SERVERLESS_FILE, stage: STAGE });
    Object.assign(process.env, aws.environment, { USER: 'ann' });
    stores = openStores(aws);
    const outputs = {
      ...Object.fromEntries(STACK_OUTPUT_NAMES.map((name) => [name, 'not used here'])),
      RegistryTableName: aws.tableNames['RegistryTable'],
      ViewTableName: aws.tableNames['ViewTable'],
      ReconcileQueueUrl: aws.queueUrls['ReconcileQueue'],
      DelayQueueUrl: aws.queueUrls['DelayQueue'],
    };
    writeFileSync(inDirectory('outputs.json'), JSON.stringify(outputs));
    writeFileSync(inDirectory('fleet.json'), JSON.stringify(fleetDocument()));
    for (const [work, rights] of grantPeople(aws)) granted.set(work, rights);
    const decide = aws.authorizer.decide.bind(aws.authorizer);
    aws.authorizer.decide = (accessKey, request) => {
      const decision = decide(accessKey, request);
      used.add(`${accessKey} ${request.action} ${request.resourceArn}`);
      return decision;
    };
    const authentication = { kind: 'bearer', token: 't' } as const;
    for (const [cluster, mode] of [
      ['prod', 'takeover'],
      ['spare', 'observe'],
    ] as const) {
      const registration = { mode, authentication };
      await storeRollout(stores, { cluster, registration, lastSentAtMs: Date.now() });
    }
  });
  after(async () => {
    stores.destroy();
    await aws.stop();
    rmSync(directory, { recursive: true });
  });

  const asPerson = (work: Work): void => {
    const { accessKeyId, secretAccessKey } = aws.authorizer.credentialsOf(keyOf(work));
    process.env['AWS_ACCESS_KEY_ID'] = accessKeyId;
    process.env['AWS_SECRET_ACCESS_KEY'] = secretAccessKey;
  };
  async function run(
    work: Work,
    line: string,
  ): Promise<{ readonly code: number; readonly text: string }> {
    asPerson(work);
    const said: string[] = [];
    const code = await runProgram({
      argv: line.replaceAll('DIR', directory).split(' '),
      name: 'rollcall',
      version: '0.0.0-test',
      modules: COMMANDS,
      environment: process.env,
      clock: createSystemClock(),
      random: createSystemRandom(),
      writeOut: (text) => said.push(text),
      writeError: (text) => said.push(text),
      terminals: { out: false, error: false },
      signal: new AbortController().signal,
      openStack: () =>
        openStack({
          stage: STAGE,
          stackOutputs: inDirectory('outputs.json'),
          environment: process.env,
        }),
      openCluster: () => Promise.reject(new Error('no kubeconfig in this test')),
    });
    return { code, text: said.join('') };
  }

  /** What each does, in an order in which every command has something to do. */
  const COMMANDS_OF: Readonly<Record<Work, readonly string[]>> = {
    'on-call': [
      'freeze --why drill --yes',
      'thaw --yes',
      'freeze --daemon-set ops/agent --why drill',
      'thaw --daemon-set ops/agent',
    ],
    rollouts: ['rollout pause prod ops/agent', 'rollout resume prod ops/agent'],
    releases: [
      'fleet apply -f DIR/fleet.json --no-server-check',
      'fleet pause monitoring/agent',
      'fleet resume monitoring/agent',
      'fleet mirror set prod',
      'fleet mirror clear',
      'fleet delete monitoring/agent',
    ],
    clusters: [
      'freeze --cluster prod --why drill',
      'thaw --cluster prod',
      'cluster set prod --label tier=edge',
      'cluster remove spare',
    ],
  };
  const LOOKS = [
    'cluster list',
    'cluster show prod',
    'rollout status prod ops/agent',
    'get daemonsets',
    'fleet get',
    'fleet mirror get',
  ];

  for (const work of WORKS) {
    it(`${work} lets its own commands be given, and everything be looked at`, async () => {
      for (const line of [...COMMANDS_OF[work], ...LOOKS]) {
        const { code, text } = await run(work, line);
        assert.equal(code, 0, `${line}: ${text}`);
      }
    });

    it(`${work} is refused each first command of another work, which names its policy`, async () => {
      for (const other of WORKS) {
        const [line = ''] = COMMANDS_OF[other];
        if (other === work) continue;
        const { code, text } = await run(work, line);
        assert.equal(code, 1, `${line}: ${text}`);
        assert.match(text, /AWS denies this: User: \S+ is not authorized to perform: dynamodb:/);
        assert.match(text, new RegExp(`by the policy .*\\b${other}\\b.* of infra/operators\\.yml`));
      }
    });

    it(`${work} writes no other partition of either table`, async () => {
      const allowed = PARTITIONS_OF[work];
      asPerson(work);
      const client = new DynamoDBClient({});
      for (const [table, partitions] of Object.entries(PARTITIONS)) {
        for (const partition of partitions) {
          const Item = { pk: { S: `${partition}x` }, sk: { S: 'x' } };
          const TableName = aws.tableNames[table];
          const written = await client.send(new PutItemCommand({ TableName, Item })).then(
            () => true,
            (error: unknown) => {
              assert.equal(error instanceof Error && error.name, 'AccessDeniedException');
              return false;
            },
          );
          assert.equal(written, allowed.includes(`${table} ${partition}`), `${table} ${partition}`);
        }
      }
      client.destroy();
    });
  }

  it('hold no right that no command uses; each reads for all of them', () => {
    const idle = WORKS.flatMap((work) =>
      (granted.get(work) ?? []).flatMap(({ sid, actions, resourceArns }) => {
        const people = sid?.startsWith('Read') === true ? WORKS : [work];
        const isUsed = (action: string): boolean =>
          people.some((one) =>
            resourceArns.some((arn) => used.has(`${keyOf(one)} ${action} ${arn}`)),
          );
        return actions.filter((action) => !isUsed(action)).map((action) => `${work} ${action}`);
      }),
    );
    assert.deepEqual(idle, []);
    assert.ok(WORKS.every((work) => granted.has(work)));
  });
});

const PARTITIONS = {
  RegistryTable: [
    ...['CLUSTER#', 'CLUSTER-UID#', 'DIRECTORY#', 'REGISTRY#', 'FREEZE#', 'CREDENTIAL#'],
    ...['REQUEST-CREDENTIAL#', 'REFUSED#', 'FLEETS#', 'FLEET#', 'FLEET-ROLLOUTS#'],
    ...['FLEET-ROLLOUT#', 'FLEET-MIRROR#', 'RIVAL#'],
  ],
  ViewTable: ['CLUSTER#', 'NAMES#', 'NODES#', 'PODS#', 'REVISIONS#', 'DS#', 'RESYNC#'],
};
const of = (table: string, ...partitions: readonly string[]): readonly string[] =>
  partitions.map((partition) => `${table} ${partition}`);
const PARTITIONS_OF: Readonly<Record<Work, readonly string[]>> = {
  'on-call': of('RegistryTable', 'FREEZE#'),
  rollouts: of('ViewTable', 'DS#'),
  releases: of('RegistryTable', 'FLEETS#', 'FLEET#', 'FLEET-ROLLOUTS#', 'FLEET-MIRROR#'),
  clusters: of('RegistryTable', 'CLUSTER#', 'CLUSTER-UID#', 'DIRECTORY#', 'REGISTRY#', 'RIVAL#'),
};

function keyOf(work: Work): string {
  return `PERSON${PEOPLE[work].toUpperCase()}`;
}

function grantPeople({
  authorizer,
  region,
}: LocalAws): readonly (readonly [Work, readonly PolicyStatement[]])[] {
  const { Resources } = readYamlFile(OPERATORS_FILE) as {
    readonly Resources: Readonly<Record<string, unknown>>;
  };
  assert.deepEqual(Object.keys(Resources), Object.values(PEOPLE));
  return WORKS.map((work) => {
    const policy = readManagedPolicy(PEOPLE[work], Resources[PEOPLE[work]]);
    const rights = resolveStatements(policy, (named) => {
      const [service, name = ''] = named.split(':', 2);
      return `arn:aws:${String(service)}:${region}:000000000000:${name.replace('${Stage}', STAGE)}`;
    });
    const arn = `arn:aws:sts::000000000000:assumed-role/${work}/ann`;
    authorizer.grant(keyOf(work), { arn, rights });
    return [work, rights] as const;
  });
}

/** Whose messages a cluster's will be: roles looked up, given, predicted or printed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NoSuchEntityException } from '@aws-sdk/client-iam';
import { CloudFormationServiceException } from '@aws-sdk/client-cloudformation';
import type { AddContext, AddTask } from '../../../../../src/cli/cluster/add/add-examine.ts';
import { parseAddRequest } from '../../../../../src/cli/cluster/add/add-request.ts';
import { obtainRoles, printRoles } from '../../../../../src/cli/cluster/add/add-roles.ts';
import type { ClusterAccount } from '../../../../../src/cli/cluster/add/eks-cluster.ts';
import { CommandError } from '../../../../../src/cli/process/exit-codes.ts';
import { clusterUid } from '../../../../../src/core/model/identifiers.ts';
import { CommandWorld } from '../../../../support/command-world.ts';

const ISSUER = 'https://oidc.eks.eu-west-1.amazonaws.com/id/1';
const NEAR = 'arn:aws:iam::111122223333:role';
const FAR = 'arn:aws:iam::444455556666:role';

/** Answers by the name of the command; an error is thrown. */
type Answers = Readonly<Record<string, unknown>>;

/** The value of a variable in printed Terraform. */
function filledIn(text: string, variable: string): string | undefined {
  const block = new RegExp(
    `^variable "${variable}" \\{\\n(?:.*\\n)*? {2}default {5}= "(.*)"$`,
    'm',
  );
  return block.exec(text)?.[1];
}

const noStack = new CloudFormationServiceException({
  name: 'ValidationError',
  $fault: 'client',
  $metadata: {},
});
const noEntity = new NoSuchEntityException({ message: '', $metadata: {} });

function accountOf(answers: Answers): ClusterAccount {
  const client = {
    send: (command: object): Promise<never> => {
      const answer = answers[command.constructor.name];
      if (answer === undefined) assert.fail(`asked ${command.constructor.name}`);
      // Each command has an answer of its own type; the test gives the members that are read.
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as never);
    },
  };
  return {
    region: 'eu-west-1',
    cloudFormation: client,
    eks: client,
    iam: client,
    sts: client,
    awsCredentials: () => Promise.reject(new Error('not asked for')),
    close: () => undefined,
  };
}

function taskOf(
  fields: object,
  answers: Answers = {},
  issuer: string | undefined = ISSUER,
): AddTask {
  const world = new CommandWorld();
  const context: AddContext = {
    stack: world.open({ stage: 'dev' }),
    clock: world.clock,
    signal: world.controller.signal,
    environment: {},
    isDryRun: true,
    say: () => undefined,
    registrations: () => Promise.resolve(new Map()),
    account: () => accountOf(answers),
    close: () => undefined,
  };
  const facts = { server: 'https://a.example', clusterUid: clusterUid('u'), version: 'v1' };
  return {
    request: parseAddRequest({ id: 'a', ...fields }),
    examined: { facts: { ...facts, ...(issuer === '' ? {} : { issuer }) } },
    context,
  };
}

describe('roles that are there', () => {
  it('are looked up by ARN, and must be the very role', async () => {
    const arn = `${NEAR}/rollcall/dev/w`;
    const found = (RoleArn: string) => ({
      GetRoleCommand: { Role: { RoleId: 'AROA1', Arn: RoleArn } },
    });
    const roles = await obtainRoles(taskOf({ watcherRoleArn: arn }, found(arn)));
    assert.deepEqual(roles, { watcher: { roleId: 'AROA1', roleArn: arn } });
    // A role of this name with another path, or of another account.
    const other = taskOf({ watcherRoleArn: arn }, found(`${NEAR}/elsewhere/w`));
    await assert.rejects(obtainRoles(other), /There is no role/);
    const gone = taskOf({ watcherRoleArn: arn }, { GetRoleCommand: noEntity });
    await assert.rejects(obtainRoles(gone), /There is no role/);
    await assert.rejects(
      obtainRoles(taskOf({ watcherRoleArn: 'w' })),
      /not under the path|not the ARN/,
    );
  });

  it('must be under the path that the policies of another account’s queue name', async () => {
    const given = (watcherRoleArn: string) =>
      obtainRoles(taskOf({ senderRoleId: 'AROA1', watcherRoleArn }));
    await given(`${NEAR}/anywhere/w`);
    await given(`${FAR}/rollcall/dev/w`);
    await assert.rejects(given(`${FAR}/rollcall/prod/w`), /not under the path \/rollcall\/dev\//);
  });

  it('of a renewer must be under the path in every account: the key names it', async () => {
    const given = (renewerRoleArn: string) =>
      obtainRoles(
        taskOf({
          auth: 'bound-token',
          senderRoleId: 'AROA1',
          watcherRoleArn: `${NEAR}/w`,
          renewerRoleId: 'AROA2',
          renewerRoleArn,
        }),
      );
    assert.equal((await given(`${NEAR}/rollcall/dev/r`)).renewer?.roleId, 'AROA2');
    await assert.rejects(given(`${NEAR}/r`), /role of the renewer/);
  });
});

describe('roles that are to be made', () => {
  const answers = {
    DescribeStacksCommand: noStack,
    GetCallerIdentityCommand: { Account: '1', Arn: 'arn:aws:iam::1:user/u' },
    GetOpenIDConnectProviderCommand: noEntity,
  };

  it('are predicted in a dry run, and nothing is made', async () => {
    const { watcher, stackName } = await obtainRoles(taskOf({ sameAccount: true }, answers));
    assert.equal(watcher.roleId, undefined);
    assert.match(watcher.roleArn ?? '', /:role\/rollcall\/dev\/rollcall-dev-a-watcher$/);
    assert.equal(stackName, 'rollcall-dev-cluster-a');
  });

  it('need to be told where', async () => {
    await assert.rejects(obtainRoles(taskOf({})), /needs a role/);
  });

  it('trust no issuer that AWS cannot ask', async () => {
    const issuers = [
      'https://kubernetes.default.svc',
      'https://kubernetes.default.svc.cluster.local',
      'https://issuer.example:6443',
      'http://issuer.example',
      'https://localhost',
    ];
    for (const issuer of issuers) {
      await assert.rejects(
        printRoles(taskOf({}, {}, issuer), 'terraform'),
        /AWS cannot check tokens/,
      );
    }
    await assert.rejects(printRoles(taskOf({}, {}, ''), 'terraform'), /does not say who issues/);
  });

  it('are printed without asking anybody, in both languages', async () => {
    assert.match(
      await printRoles(taskOf({}), 'terraform'),
      /resource "aws_iam_role" "watcher_role"/,
    );
    assert.match(
      await printRoles(taskOf({ auth: 'bound-token' }), 'cloudformation'),
      /Default: ["']?rollcall-dev-a-renewer/,
    );
  });

  it('make an issuer known only if nobody did, but keep what their own stack made', async () => {
    const printed = async (change: Answers): Promise<boolean> => {
      const task = taskOf({ sameAccount: true }, { ...answers, ...change });
      return filledIn(await printRoles(task, 'terraform'), 'create_oidc_provider') === 'yes';
    };
    const present = { GetOpenIDConnectProviderCommand: { ClientIDList: ['sts.amazonaws.com'] } };
    const own = (OidcIssuer: string) => ({
      DescribeStacksCommand: {
        Stacks: [
          {
            Parameters: Object.entries({ OidcIssuer, CreateOidcProvider: 'yes' }).map(
              ([ParameterKey, ParameterValue]) => ({ ParameterKey, ParameterValue }),
            ),
          },
        ],
      },
    });
    assert.equal(await printed({}), true);
    assert.equal(await printed(present), false);
    assert.equal(await printed({ ...present, ...own(ISSUER.slice('https://'.length)) }), true);
    assert.equal(await printed({ ...present, ...own('issuer.example/old') }), false);
  });

  it('take the boundary that was asked for, and keep the one that their stack has (F16 f)', async () => {
    const boundary = 'arn:aws:iam::111122223333:policy/boundary';
    const asked = taskOf({ sameAccount: true, permissionsBoundary: boundary }, answers);
    const printed = await printRoles(asked, 'terraform');
    assert.equal(filledIn(printed, 'permissions_boundary_arn'), boundary);
    const standing = {
      DescribeStacksCommand: {
        Stacks: [
          {
            Parameters: [{ ParameterKey: 'PermissionsBoundaryArn', ParameterValue: boundary }],
          },
        ],
      },
    };
    const again = taskOf({ sameAccount: true }, { ...answers, ...standing });
    const kept = await printRoles(again, 'terraform');
    assert.equal(filledIn(kept, 'permissions_boundary_arn'), boundary);
    assert.throws(() => taskOf({ sameAccount: true, permissionsBoundary: 'boundary' }));
  });

  it('are not made for an issuer that the account knows for another audience (F16 e)', async () => {
    for (const known of [{ ClientIDList: ['vault', 'sts.amazonaws.com.cn'] }, {}]) {
      const task = taskOf(
        { sameAccount: true },
        { ...answers, GetOpenIDConnectProviderCommand: known },
      );
      await assert.rejects(obtainRoles(task), (error: unknown) => {
        assert.ok(error instanceof CommandError);
        assert.match(error.message, /knows the issuer .* not for the audience sts\.amazonaws\.com/);
        const command = 'aws iam add-client-id-to-open-id-connect-provider';
        const arn = `arn:aws:iam::1:oidc-provider/${ISSUER.slice('https://'.length)}`;
        assert.ok(error.remedy.startsWith(`${command} --open-id-connect-provider-arn ${arn} `));
        return true;
      });
    }
  });
});

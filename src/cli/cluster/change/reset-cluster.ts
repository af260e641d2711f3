/**
 * `rollcall cluster reset`: registers a cluster anew that was rebuilt under its old name (row 90).
 *
 * Until then nothing is written to the new one: its UID is another one. Who it is now is read afresh, and
 * shown before anything is written; an identity changes only with `--yes`. Touches nothing in a cluster.
 */
import { HttpsClusterConnector } from '../../../adapters/kubernetes/api/cluster-connector.ts';
import {
  compareRegistrations,
  resetRegistration,
} from '../../../app/clusters/edit-registration.ts';
import type { FieldChange } from '../../../app/clusters/edit-registration.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { UID_PATTERN, clusterUid, type ClusterUid } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { egressPolicy } from '../../../../functions/egress-policy.ts';
import type { ConnectRefusal } from '../../../ports/cluster/cluster-access.ts';
import {
  CLUSTER_ARGUMENT,
  OPERATOR_OPTIONS,
  parseClusterId,
  requireRegistration,
} from '../../command-line/cluster-arguments.ts';
import { defineCommand, flagOption, textOption } from '../../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  OptionsOf,
} from '../../command-line/command-module.ts';
import { failure, refusal, usageError, type CommandError } from '../../process/exit-codes.ts';
import type { Stack } from '../../reach/stack.ts';
import { withOperator } from '../../reach/operator-access.ts';
import { presentChange, writeChange } from './changes.ts';

const OPTIONS = {
  clusterUid: textOption(
    '--cluster-uid <uid>',
    'UID of its namespace kube-system, instead of asking it',
  ),
  yes: flagOption('--yes', 'confirm that the cluster is another one now'),
  dryRun: flagOption('--dry-run', 'show what would change, and change nothing'),
  ...OPERATOR_OPTIONS,
};

type ResetOptions = OptionsOf<typeof OPTIONS>;

const WORDS = {
  document: { kind: 'ClusterReset' },
  verb: 'registered anew',
  nothing: 'nothing to reset, it is the cluster that is registered.',
};

/** The command. */
export const resetClusterCommand: CommandModule = defineCommand({
  path: ['cluster', 'reset'],
  documents: ['ClusterReset'],
  summary: 'register a rebuilt cluster under its old name, in mode observe',
  about: [
    'The UID of the namespace kube-system identifies a cluster; Rollcall writes nothing to a rebuilt cluster until you run this command.',
    'It forgets takeover, sentinel, conflict and the old token, keeps freeze, labels and roles, and touches no pod.',
    'If the kubeconfig names the registered endpoint, the registration also takes its certificate authority.',
  ],
  exits: { refused: 'without --yes; the command says which cluster it found' },
  examples: [
    'cluster reset prod-eu-1 --context prod-eu-1',
    'cluster reset prod-eu-1 --context prod-eu-1 --yes',
  ],
  interruption: 'orderly',
  args: [CLUSTER_ARGUMENT],
  options: OPTIONS,
  run: async ({ args, options }, context) => {
    const stack = await context.openStack();
    const before = await requireRegistration(stack.registry, parseClusterId(args[0] ?? ''));
    const found = await identify({ before, options, stack, context });
    const after = resetRegistration(before, found);
    const changes = compareRegistrations(before, after);
    if (found.clusterUid === before.clusterUid) refuseSame(before, changes);
    if (options.dryRun === true || changes.length === 0) {
      return presentChange(WORDS, { before, after });
    }
    if (options.yes !== true && found.clusterUid !== before.clusterUid) {
      throw unconfirmed(before, found.clusterUid);
    }
    const written = await writeChange(before, after, stack);
    await stack.credentials.removeTokens(before.id);
    return presentChange(WORDS, { before, after: written }, nextSteps(before));
  },
});

interface Identifying {
  readonly before: ClusterRegistration;
  readonly options: ResetOptions;
  readonly stack: Stack;
  readonly context: CommandContext;
}

type Found = Parameters<typeof resetRegistration>[1];

async function identify({ before, options, stack, context }: Identifying): Promise<Found> {
  if (options.clusterUid !== undefined) {
    if (UID_PATTERN.test(options.clusterUid)) return { clusterUid: clusterUid(options.clusterUid) };
    throw usageError(
      '--cluster-uid is no UID.',
      'kubectl get namespace kube-system -o jsonpath={.metadata.uid}',
    );
  }
  if (options.kubeconfig !== undefined || options.context !== undefined) {
    return identifyByKubeconfig(before, options, context);
  }
  context.say(`asking ${before.server} who it is …`);
  return { clusterUid: await askEndpoint(before, stack) };
}

/** As the connector shows a UID that it would not repeat. */
const SHOWN_UID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Which cluster answers at the registered endpoint, asked with the registered credential (S6): the connector compares
 * kube-system's UID before anything else, so its refusal says what was found. A bound token is not opened here: it was
 * made by the old cluster, and a rebuilt one does not accept it.
 */
async function askEndpoint(
  registration: ClusterRegistration,
  stack: Pick<Stack, 'stage' | 'awsCredentials'>,
): Promise<ClusterUid> {
  const connector = new HttpsClusterConnector({
    clock: createSystemClock(),
    awsCredentials: () => stack.awsCredentials(),
    egress: egressPolicy({ ROLLCALL_STAGE: stack.stage }),
  });
  const { id } = registration;
  try {
    const answer = await connector.connect(registration);
    if (answer.kind === 'connected') return registration.clusterUid;
    const refused = answer.refusal;
    if (refused.kind === 'wrong-cluster' && SHOWN_UID.test(refused.foundUid)) {
      return clusterUid(refused.foundUid);
    }
    throw failure(
      `${id} could not be asked who it is now: ${whyUnknown(refused)}.`,
      'Pass --kubeconfig or --context of the rebuilt cluster, or --cluster-uid.',
    );
  } finally {
    connector.forget(id);
  }
}

function whyUnknown(refused: ConnectRefusal): string {
  switch (refused.kind) {
    case 'wrong-cluster':
      return 'its kube-system UID has no usual form';
    case 'no-credential':
      return 'there is no credential that could be used from here';
    case 'no-token':
      return `there is no usable token: ${refused.fault}`;
    case 'egress-refused':
      return `${refused.field} is refused: ${refused.reason}`;
    case 'unavailable':
      return refused.message;
  }
}

/** The authority is taken over where the kubeconfig names the very endpoint that is registered. */
function identifyByKubeconfig(
  before: ClusterRegistration,
  options: ResetOptions,
  context: CommandContext,
): Promise<Found> {
  const open = () => context.openCluster(options);
  return withOperator(open, ({ caPem, server, clusterUid: found }) => {
    const isSameEndpoint = server === before.server && caPem !== undefined;
    return Promise.resolve({ clusterUid: found, ...(isSameEndpoint ? { caPem } : {}) });
  });
}

/** A cluster in takeover that is still itself is left by a hand-back, not by forgetting it. */
function refuseSame({ id, mode }: ClusterRegistration, changes: readonly FieldChange[]): void {
  if (mode !== 'takeover' || changes.length === 0) return;
  throw refusal(
    `${id} is the very cluster that is registered, and in takeover: there is nothing to reset.`,
    `To leave takeover: rollcall cluster set ${id} --mode observe. After another controller was seen: --mode takeover.`,
  );
}

function unconfirmed(
  { id, clusterUid: old }: ClusterRegistration,
  found: ClusterUid,
): CommandError {
  return refusal(
    `${id} is another cluster now: ${found} instead of ${old}. Nothing was written.`,
    `If that is right: rollcall cluster reset ${id} --yes (with the same options).`,
  );
}

function nextSteps({ id, mode, authentication }: ClusterRegistration): readonly string[] {
  const steps = [
    'No pod was touched. Next, in the rebuilt cluster:',
    '  install the watcher, with the role that is registered (rollcall cluster add prints how; another role: --role-id)',
    authentication.kind !== 'none' && '  give the functions their rights there: infra/functions',
    mode === 'takeover' &&
      `  enter takeover anew, with its probe: rollcall cluster set ${id} --mode takeover`,
    'Should the old cluster still run: nothing of Rollcall acts there any more.',
  ];
  return steps.filter((step) => step !== false);
}

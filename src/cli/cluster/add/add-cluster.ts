/**
 * `rollcall cluster add`: makes a cluster known to the stack, with a watcher that may speak for it.
 *
 * Mode is observe or copilot: takeover is entered by `cluster set`, after its probe. Without `--apply` the manifests
 * go to stdout, so that they can be piped or read; everything that is said meanwhile is on stderr. No credential
 * is part of either (S11).
 */
import { counted } from '@rollcall/base/counted.ts';
import { writeFileSync } from 'node:fs';
import { describeAuthentication } from '../../../app/clusters/edit-registration.ts';
import {
  OPERATOR_OPTIONS,
  excludeEachOther,
  parseClusterId,
} from '../../command-line/cluster-arguments.ts';
import { choiceOption, defineCommand, textOption } from '../../command-line/command-module.ts';
import type { CommandModule, CommandResult, OptionsOf } from '../../command-line/command-module.ts';
import { EXIT } from '../../process/exit-codes.ts';
import { createAddContext, examineCluster } from './add-examine.ts';
import { COMMON_OPTIONS, requestFields, draftAddRequest } from './add-request.ts';
import { printRoles } from './add-roles.ts';
import { addCluster, toldWith, type AddedCluster } from './add-steps.ts';
import { isRefused } from '../manifests/apply-manifests.ts';
import { describeObject, writeManifests } from '../manifests/manifests.ts';

const OPTIONS = {
  ...OPERATOR_OPTIONS,
  eks: textOption(
    '--eks <name>',
    'name of the EKS cluster: address, issuer and ARN are asked of AWS',
  ),
  ...COMMON_OPTIONS,
  oidcIssuer: textOption(
    '--oidc-issuer <url>',
    'issuer of its tokens (default: as EKS or the API server says)',
  ),
  senderRoleId: textOption(
    '--sender-role-id <id>',
    'unique id (AROA…) of the role of the watcher, if it exists',
  ),
  watcherRoleArn: textOption(
    '--watcher-role-arn <arn>',
    'ARN of the role of the watcher, if it exists',
  ),
  renewerRoleId: textOption(
    '--renewer-role-id <id>',
    'unique id of the role of the token renewer, if it exists',
  ),
  renewerRoleArn: textOption(
    '--renewer-role-arn <arn>',
    'ARN of the role of the token renewer, if it exists',
  ),
  clusterUid: textOption(
    '--cluster-uid <uid>',
    'UID of kube-system: do not ask the cluster, which is out of reach',
  ),
  server: textOption('--server <url>', 'with --cluster-uid: address of the API server'),
  caFile: textOption('--ca-file <file>', 'with --cluster-uid: its certificate authority'),
  watcherApiServer: textOption(
    '--watcher-api-server <url>',
    'where the watcher reaches the API server, for takeover',
  ),
  manifests: textOption(
    '--manifests <file>',
    'write the manifests there (default: -, that is stdout)',
  ),
  print: choiceOption(
    '--print <format>',
    'print the roles for deployment by hand, and do nothing',
    ['cloudformation', 'terraform'],
  ),
};

/** The command. */
export const addClusterCommand: CommandModule = defineCommand({
  path: ['cluster', 'add'],
  documents: ['ClusterAdded', 'ClusterRoles'],
  summary: 'register a cluster, and make or print the roles and manifests of its watcher',
  about: [
    'It makes or prints the IAM roles of the watcher (and of the token renewer) in the account of the cluster, writes the registration, and prints or applies the manifests.',
    'It checks everything first: where something is missing it makes nothing, and names each problem with its remedy.',
    'You may repeat it.',
  ],
  exits: { refused: 'another installation is at work in the cluster' },
  interruption: 'orderly',
  args: [['<id>', 'id of the cluster, as you want to see it everywhere']],
  options: OPTIONS,
  examples: [
    'cluster add prod-eu-1 --eks prod --cluster-profile workloads --image IMAGE --apply',
    'cluster add edge-7 --context edge-7 --cluster-profile edge --image IMAGE > edge-7.yaml',
    'cluster add prod-eu-1 --eks prod --print terraform > prod-eu-1.tf',
    'cluster add prod-eu-1 --eks prod --auth eks --cluster-profile workloads --dry-run',
  ],
  run: async ({ args, options }, context) => {
    const { manifests, print, apply, dryRun } = options;
    const id = parseClusterId(args[0] ?? '');
    excludeEachOther({ '--apply': apply, '--manifests': manifests });
    const fields = { ...requestFields({ ...options }, context.environment), id };
    const needs = print === undefined ? { roles: true, image: apply === true } : {};
    const { request, missing } = draftAddRequest(fields, needs);
    const stack = await toldWith(missing, () => context.openStack());
    const shared = createAddContext(stack, context, dryRun === true);
    try {
      if (print !== undefined) {
        const examined = await examineCluster(request, shared);
        examined.connection?.transport.retire();
        const roles = await printRoles({ request, examined, context: shared }, print);
        return {
          document: { kind: 'ClusterRoles', format: print, text: roles },
          lines: [roles.trimEnd()],
        };
      }
      const added = await addCluster(request, shared, { shouldApply: apply === true, missing });
      const result = present(added, options);
      const done = { isDryRun: dryRun === true, isApplied: apply === true };
      for (const line of nextSteps(added, done)) context.say(line);
      return result;
    } finally {
      shared.close();
    }
  },
});

function present(added: AddedCluster, options: OptionsOf<typeof OPTIONS>): CommandResult {
  const { manifests: file = '-', apply } = options;
  const yaml = writeManifests(added.manifests);
  const isPrinted = apply !== true && file === '-';
  if (apply !== true && !isPrinted && options.dryRun !== true) writeFileSync(file, yaml);
  const hasFailed = added.applied.some(isRefused);
  return {
    document: describeAdded(added, { withManifests: isPrinted }),
    lines: isPrinted ? [yaml.trimEnd()] : [],
    exitCode: hasFailed ? EXIT.failed : EXIT.ok,
  };
}

/** Shape of `cluster add --json` (docs/reference/cli.md). */
export function describeAdded(
  added: AddedCluster,
  options: { readonly withManifests: boolean },
): CommandResult['document'] {
  const { id, registration, result, roles, accessEntries, manifests, applied } = added;
  const { version, accessEntryCommands, warnings } = added;
  const { clusterUid, server } = registration;
  return {
    kind: 'ClusterAdded',
    cluster: id,
    result,
    clusterUid,
    server,
    version,
    authentication: describeAuthentication(registration.authentication),
    roles,
    accessEntries,
    accessEntryCommands,
    ...(warnings.length === 0 ? {} : { warnings }),
    objects: manifests.map(describeObject),
    applied,
    ...(options.withManifests ? { manifests } : {}),
  };
}

export function nextSteps(
  added: AddedCluster,
  options: { readonly isDryRun: boolean; readonly isApplied: boolean },
): readonly string[] {
  if (options.isDryRun) return ['Dry run: nothing was written.'];
  const { id } = added;
  return [
    '',
    `${id}: next`,
    ...added.accessEntryCommands.map((command) => `  let the functions in:  ${command}`),
    ...stepsOfManifests(added, options.isApplied),
    `  see that all is well:  rollcall cluster doctor ${id}`,
    ...stepsToAct(added),
  ];
}

function stepsOfManifests(
  { credentials, hasImage, applied }: AddedCluster,
  isApplied: boolean,
): readonly string[] {
  const refused = applied.filter(isRefused).length;
  const steps = [
    !isApplied && !hasImage && '  name the image:        in the Deployment, or with --image',
    isApplied &&
      refused > 0 &&
      `  put right:             ${counted(refused, 'object was', 'objects were')} refused; then repeat the command`,
    credentials === 'static' &&
      '  make the Secret:       rollcall-watcher-aws, which holds the keys (docs/install.md)',
    !isApplied && '  apply the manifests:   kubectl apply --server-side -f FILE',
  ];
  return steps.filter((step) => step !== false);
}

function stepsToAct({ id, registration, credentials }: AddedCluster): readonly string[] {
  const { mode, authentication } = registration;
  const { kind } = authentication;
  if (kind === 'none') return [];
  const steps = [
    kind === 'bound-token' &&
      '  first token at once:   kubectl -n rollcall-system create job --from=cronjob/rollcall-renewer rollcall-renewer-first',
    mode === 'copilot' &&
      '  name its DaemonSets:   kubectl get daemonsets -A -o json | node scripts/launch.mjs scripts/install/copilot-policy.ts | kubectl apply -f -',
    mode === 'observe' &&
      credentials === 'pod-identity' &&
      '  before takeover:       --credentials irsa; the agent of pod identity is a DaemonSet itself',
    mode === 'observe' &&
      `  then, when you want:   rollcall cluster set ${id} --mode takeover, or beside the built-in controller --mode copilot`,
  ];
  return steps.filter((step) => step !== false);
}

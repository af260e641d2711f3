/**
 * `rollcall cluster set`: changes a registration, shows before and after, and changes its mode.
 *
 *   read ─▶ edit, one compare-and-set ─▶ mode: switch, after a probe where it is takeover; or hand back
 *
 * A concurrent change is not overwritten: it is an error, and nothing is written.
 * Freezes are not set here: `rollcall freeze` and `thaw` do that.
 */
import { compareRegistrations, editRegistration } from '../../../app/clusters/edit-registration.ts';
import type {
  ClusterRegistration,
  ClusterAuthentication,
} from '../../../core/model/registration.ts';
import {
  CLUSTER_ARGUMENT,
  OPERATOR_OPTIONS,
  parseClusterId,
  requireRegistration,
  excludeEachOther,
  LABEL_KEY,
  LABEL_VALUE,
  parseRoleId,
  parseSeconds,
  readCaFile,
} from '../../command-line/cluster-arguments.ts';
import {
  choiceOption,
  defineCommand,
  flagOption,
  numberOption,
  textOption,
  textsOption,
} from '../../command-line/command-module.ts';
import type { CommandModule, OptionsOf } from '../../command-line/command-module.ts';
import { changeMode, refuseMode, refuseWhileFrozen } from './change-mode.ts';
import { presentChange, requireValid, writeChange } from './changes.ts';
import { usageError } from '../../process/exit-codes.ts';
import {
  parseStartUpTaint,
  START_UP_CONDITION,
  START_UP_WAIT_MS,
} from '../../../core/start-up/start-up-taint.ts';
import { defined } from '@rollcall/base/defined.ts';
import { isPrivateRange } from '../../../adapters/kubernetes/egress/address-class.ts';
import { parseEndpoint } from '../../../adapters/kubernetes/egress/endpoint.ts';
import type { RegistrationEdit } from '../../../app/clusters/edit-registration.ts';

const EDIT_OPTIONS = {
  label: textsOption('--label <key=value>', 'set a label, or remove it with key-; repeatable'),
  server: textOption('--server <url>', 'address of the API server, as the functions reach it'),
  caFile: textOption('--ca-file <file>', 'certificate authority of the API server'),
  systemCa: flagOption('--system-ca', 'trust the certificate authorities of the system'),
  privateRange: textsOption(
    '--private-range <cidr>',
    'private range that the address may be in; repeatable',
  ),
  publicOnly: flagOption('--public-only', 'allow public addresses only'),
  roleId: textOption('--role-id <id>', 'unique id (AROA…) of the role of the watcher'),
  eksCluster: textOption(
    '--eks-cluster <name>',
    'authenticate by EKS access entries to this cluster',
  ),
  eksRegion: textOption('--eks-region <region>', 'its region'),
  renewerRoleId: textOption(
    '--renewer-role-id <id>',
    'authenticate by a bound token that this role renews',
  ),
  startUpTaint: textOption(
    '--start-up-taint <key[=value]:effect>',
    'remove this taint from a node once its daemons serve; Rollcall never adds it',
  ),
  startUpCondition: textOption(
    '--start-up-condition <type>',
    'write this condition as True on such a node instead: the Node Readiness Controller removes its taint',
  ),
  startUpCounts: choiceOption(
    '--start-up-counts <which>',
    'nodes wait for labelled DaemonSets (rollcall.dev/start-up: "true"), or for all that place a pod there',
    ['labelled', 'all'],
  ),
  startUpWait: numberOption(
    '--start-up-wait <seconds>',
    `report a node in status that waits for longer (default: ${String(START_UP_WAIT_MS / 1000)})`,
    parseSeconds,
  ),
  withoutStartUp: flagOption('--without-start-up', 'leave the taints of nodes as they are'),
  withoutCredential: flagOption('--without-credential', 'have no credential: mode observe only'),
};

type EditOptions = OptionsOf<typeof EDIT_OPTIONS>;

const WORDS = {
  document: { kind: 'ClusterChange' },
  verb: 'changed',
  nothing: 'nothing to change, it is so already.',
};

/** The command. */
export const setClusterCommand: CommandModule = defineCommand({
  path: ['cluster', 'set'],
  documents: ['ClusterChange'],
  summary: 'change the mode, labels, endpoint or roles of a cluster',
  about: [
    'It shows each change before and after.',
    '--mode takeover probes first, and is refused while the built-in controller is on or the whole stack is frozen.',
    'After a conflict, --mode takeover is the way to begin anew.',
    '--mode copilot probes, creates and restarts nothing.',
    '--mode observe freezes the cluster and waits for requests under way.',
    'From takeover both then remove the sentinel and the notices; switch the built-in controller on then.',
  ],
  exits: {
    refused:
      'the built-in controller is on, the stack is frozen, or a takeover was not handed back',
    timedOut: 'no complete view in time after the change of mode',
  },
  interruption: 'orderly',
  args: [CLUSTER_ARGUMENT],
  options: {
    mode: choiceOption(
      '--mode <mode>',
      'observe: look only. copilot: time rollouts beside the built-in controller. takeover: probe first, then keep its DaemonSets',
      ['observe', 'copilot', 'takeover'],
    ),
    ...EDIT_OPTIONS,
    withoutCluster: flagOption(
      '--without-cluster',
      'with --mode observe: change nothing in the cluster itself',
    ),
    dryRun: flagOption('--dry-run', 'show what would change, and change nothing'),
    ...OPERATOR_OPTIONS,
  },
  examples: [
    'cluster set prod-eu-1 --mode takeover --context prod-eu-1',
    'cluster set eks-eu-2 --mode copilot',
    'cluster set prod-eu-1 --label ring=2 --label old-',
    'cluster set prod-eu-1 --start-up-taint example.com/agents-not-ready:NoSchedule',
    'cluster set prod-eu-1 --server https://10.1.2.3:6443 --private-range 10.1.0.0/16 --dry-run',
  ],
  run: async ({ args, options }, context) => {
    const id = parseClusterId(args[0] ?? '');
    const edit = parseEdit(options);
    if (Object.keys(edit).length === 0 && options.mode === undefined) {
      throw usageError('Nothing to change.', 'Pass what to change: rollcall cluster set --help');
    }
    const stack = await context.openStack();
    const before = await requireRegistration(stack.registry, id);
    refuseWithoutTaint(before, edit);
    const edited = requireValid(editRegistration(before, edit));
    const wanted = options.mode ?? edited.mode;
    refuseMode(edited, wanted);
    if (options.dryRun === true) {
      return presentChange(WORDS, { before, after: { ...edited, mode: wanted } });
    }
    await refuseWhileFrozen(before, wanted, stack);
    const isChanged = compareRegistrations(before, edited).length > 0;
    const registration = isChanged ? await writeChange(before, edited, stack) : before;
    const changed = await changeMode({ registration, mode: wanted, options, stack, context });
    return presentChange(WORDS, { before, after: changed.registration }, changed.notes);
  },
});

/** Parses the options. Throws CommandError. */
function parseEdit(options: EditOptions): RegistrationEdit {
  const caPem = parseCa(options);
  const privateRanges = parseRanges(options);
  const authentication = parseAuthentication(options);
  return {
    ...(options.label === undefined ? {} : { labels: parseLabels(options.label) }),
    ...(options.server === undefined ? {} : { server: parseServer(options.server) }),
    ...defined({ caPem, privateRanges }),
    ...(options.roleId === undefined ? {} : { senderRoleId: parseRoleId(options.roleId) }),
    ...defined({ authentication, startUp: parseStartUp(options) }),
  };
}

/** Kept for labels that Rollcall may set itself one day. */
const RESERVED_PREFIX = 'rollcall.dev/';

/** `key=value` sets, `key-` removes, as with kubectl. */
function parseLabels(texts: readonly string[]): NonNullable<RegistrationEdit['labels']> {
  const set: [string, string][] = [];
  const removed: string[] = [];
  for (const text of texts) {
    const [key = '', value] = text.split(/=(.*)/s, 2);
    if (key.startsWith(RESERVED_PREFIX)) {
      throw usageError(
        `--label ${text}: labels that begin with ${RESERVED_PREFIX} are Rollcall’s own.`,
        'Choose another key.',
      );
    }
    if (value === undefined && key.endsWith('-') && LABEL_KEY.test(key.slice(0, -1))) {
      removed.push(key.slice(0, -1));
    } else if (value !== undefined && LABEL_KEY.test(key) && LABEL_VALUE.test(value)) {
      set.push([key, value]);
    } else {
      throw usageError(
        `--label ${text} is no label.`,
        'Pass key=value to set one, key- to remove one; letters, digits, ".", "_", "-", and "/" in keys.',
      );
    }
  }
  return { set: Object.fromEntries(set), removed };
}

/** What of it is given; null: none any more. */
function parseStartUp(options: EditOptions): RegistrationEdit['startUp'] {
  const { startUpTaint, startUpCondition, startUpCounts, startUpWait, withoutStartUp } = options;
  const given = startUpTaint ?? startUpCondition ?? startUpCounts ?? startUpWait?.toString();
  excludeEachOther({ '--start-up-…': given, '--without-start-up': withoutStartUp });
  if (withoutStartUp === true) return null;
  if (given === undefined) return undefined;
  const taint = startUpTaint === undefined ? undefined : parseStartUpTaint(startUpTaint);
  if (startUpTaint !== undefined && taint === undefined) {
    throw usageError(
      `--start-up-taint ${startUpTaint} is no start-up taint.`,
      'Pass KEY[=VALUE]:EFFECT, with NoSchedule, PreferNoSchedule or NoExecute, and a key that is not of node.kubernetes.io.',
    );
  }
  const condition = startUpCondition === undefined ? undefined : parseCondition(startUpCondition);
  const waitBoundMs = startUpWait === undefined ? undefined : Math.round(startUpWait * 1000);
  return defined({ taint, condition, counts: startUpCounts, waitBoundMs });
}

function parseCondition(text: string): string {
  if (START_UP_CONDITION.test(text)) return text;
  throw usageError(
    `--start-up-condition ${text} is no start-up condition.`,
    'Pass PREFIX/NAME, with a prefix that is not of kubernetes.io or k8s.io, as in example.com/AgentsReady.',
  );
}

function refuseWithoutTaint({ id, startUp }: ClusterRegistration, edit: RegistrationEdit): void {
  if (edit.startUp === undefined || edit.startUp === null) return;
  if (startUp !== undefined || edit.startUp.taint !== undefined) return;
  throw usageError(`${id} has no start-up taint yet.`, 'Pass --start-up-taint as well.');
}

function parseServer(text: string): string {
  const parsed = parseEndpoint(text);
  if (parsed.kind === 'endpoint') return text;
  throw usageError(`--server cannot be used: ${parsed.message}.`, 'Pass https://HOST[:PORT].');
}

function parseCa({ caFile, systemCa }: EditOptions): string | null | undefined {
  excludeEachOther({ '--ca-file': caFile, '--system-ca': systemCa });
  if (systemCa === true) return null;
  if (caFile === undefined) return undefined;
  return readCaFile(caFile, 'It begins with -----BEGIN CERTIFICATE----- and holds no private key.');
}

function parseRanges({ privateRange, publicOnly }: EditOptions): readonly string[] | undefined {
  excludeEachOther({ '--private-range': privateRange, '--public-only': publicOnly });
  if (publicOnly === true) return [];
  for (const text of privateRange ?? []) {
    if (isPrivateRange(text)) continue;
    throw usageError(
      `--private-range ${text} is no private range.`,
      'Pass CIDR notation inside RFC 1918, 100.64.0.0/10 or fc00::/7, e.g. 10.20.0.0/16.',
    );
  }
  return privateRange;
}

function parseAuthentication(options: EditOptions): ClusterAuthentication | undefined {
  const { eksCluster, eksRegion, renewerRoleId, withoutCredential } = options;
  excludeEachOther({
    '--eks-cluster': eksCluster,
    '--renewer-role-id': renewerRoleId,
    '--without-credential': withoutCredential,
  });
  if ((eksCluster === undefined) !== (eksRegion === undefined)) {
    throw usageError('--eks-cluster and --eks-region belong together.', 'Pass both.');
  }
  if (withoutCredential === true) return { kind: 'none' };
  if (renewerRoleId !== undefined) {
    return { kind: 'bound-token', renewerRoleId: parseRoleId(renewerRoleId) };
  }
  if (eksCluster === undefined || eksRegion === undefined) return undefined;
  return { kind: 'eks', clusterName: eksCluster, region: eksRegion };
}

/**
 * `rollcall cluster set`: changes a registration, shows before and after, and changes its mode.
 *
 *   read ─▶ edit, one compare-and-set ─▶ mode: switch, after a probe where it is takeover; or hand back
 *
 * What was changed by somebody else meanwhile is not overwritten: it is an error, and nothing is written.
 * Freezes are not set here: `rollcall freeze` and `thaw` do that.
 */
import type { Command } from 'commander';
import { compareRegistrations, editRegistration } from '../../../app/clusters/edit-registration.ts';
import type { ClusterMode, ClusterRegistration } from '../../../core/model/registration.ts';
import {
  collect,
  parseClusterId,
  requireRegistration,
} from '../../command-line/cluster-arguments.ts';
import { defineCommand } from '../../command-line/command-module.ts';
import type { CommandModule } from '../../command-line/command-module.ts';
import type { Stack } from '../../reach/stack.ts';
import { changeMode, refuseMode, refuseWhileFrozen } from './change-mode.ts';
import { declareOperatorOptions } from '../../reach/operator-access.ts';
import type { OperatorOptions } from '../../reach/operator-access.ts';
import { parseEdit } from './parse-edit.ts';
import type { EditOptions } from './parse-edit.ts';
import { changedMeanwhile, presentChange, requireValid } from './changes.ts';
import { usageError } from '../../process/exit-codes.ts';

/** Options of `cluster set`. */
export interface SetOptions extends EditOptions, OperatorOptions {
  readonly mode?: ClusterMode;
  readonly withoutCluster?: true;
  readonly dryRun?: true;
}

const WORDS = {
  document: { kind: 'ClusterChange' },
  verb: 'changed',
  nothing: 'nothing to change, it is so already.',
};

/** The command. */
export const setClusterCommand: CommandModule = defineCommand<SetOptions>({
  path: ['cluster', 'set'],
  summary: 'change a cluster: mode, labels, endpoint, roles',
  interruption: 'orderly',
  configure: declareOptions,
  run: async ({ args, options }, context) => {
    const id = parseClusterId(args[0] ?? '');
    const edit = parseEdit(options);
    if (Object.keys(edit).length === 0 && options.mode === undefined) {
      throw usageError('Nothing to change.', 'Pass what to change: rollcall cluster set --help');
    }
    const stack = await context.openStack();
    const before = await requireRegistration(stack.registry, id);
    const edited = requireValid(editRegistration(before, edit));
    const wanted = options.mode ?? edited.mode;
    refuseMode(edited, wanted);
    if (options.dryRun === true) {
      return presentChange(WORDS, { before, after: { ...edited, mode: wanted } });
    }
    await refuseWhileFrozen(before, wanted, stack);
    const registration = await writeEdit(before, edited, stack);
    const changed = await changeMode({ registration, mode: wanted, options, stack, context });
    return presentChange(WORDS, { before, after: changed.registration }, changed.notes);
  },
});

function declareOptions(command: Command): void {
  command
    .argument('<id>', 'id of the cluster')
    .addHelpText('after', EXAMPLES)
    .addOption(
      command
        .createOption(
          '--mode <mode>',
          'observe: look only. copilot: time rollouts beside the built-in controller. takeover: probe first, then keep its DaemonSets',
        )
        .choices(['observe', 'copilot', 'takeover']),
    )
    .option('--label <key=value>', 'set a label, or remove it with key-; repeatable', collect)
    .option('--server <url>', 'address of the API server, as the functions reach it')
    .option('--ca-file <file>', 'certificate authority of the API server')
    .option('--system-ca', 'trust the system’s certificate authorities instead of an own one')
    .option(
      '--private-range <cidr>',
      'private range that the address may be in; repeatable',
      collect,
    )
    .option('--public-only', 'allow public addresses only')
    .option('--role-id <id>', 'unique id (AROA…) of the watcher’s role')
    .option('--eks-cluster <name>', 'authenticate by EKS access entries to this cluster')
    .option('--eks-region <region>', 'its region')
    .option('--renewer-role-id <id>', 'authenticate by a bound token that this role renews')
    .option('--without-credential', 'have no credential: mode observe only')
    .option('--without-cluster', 'with --mode observe: change nothing in the cluster itself')
    .option('--dry-run', 'show what would change, and change nothing');
  declareOperatorOptions(command);
}

const EXAMPLES = `
Examples:
  rollcall cluster set prod-eu-1 --mode takeover --context prod-eu-1
  rollcall cluster set eks-eu-2 --mode copilot
  rollcall cluster set prod-eu-1 --label ring=2 --label old-
  rollcall cluster set prod-eu-1 --server https://10.1.2.3:6443 --private-range 10.1.0.0/16 --dry-run`;

async function writeEdit(
  before: ClusterRegistration,
  edited: ClusterRegistration,
  { registry }: Stack,
): Promise<ClusterRegistration> {
  if (compareRegistrations(before, edited).length === 0) return before;
  const written = await registry.writeCluster(edited, before.configVersion);
  if (written !== 'written') throw changedMeanwhile(before);
  return { ...edited, configVersion: before.configVersion + 1 };
}

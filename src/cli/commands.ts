/**
 * Every command of `rollcall`, in the order of `--help`.
 *
 * docs/reference/cli.md describes each, with its options and its document; a test compares. What a command line in
 * docs/operations.md names is held to this list, too.
 */
import { doctorCommand } from './checks/doctor.ts';
import { addClusterCommand } from './cluster/add/add-cluster.ts';
import { importClustersCommand } from './cluster/import/import-clusters.ts';
import { issuerCommand } from './cluster/issuer/issuer-command.ts';
import { listClustersCommand } from './cluster/show/list-clusters.ts';
import { removeClusterCommand } from './cluster/change/remove-cluster.ts';
import { resetClusterCommand } from './cluster/change/reset-cluster.ts';
import { setClusterCommand } from './cluster/change/set-cluster.ts';
import { showClusterCommand } from './cluster/show/show-cluster.ts';
import { coverageCommand } from './coverage/coverage-command.ts';
import { costCommand } from './cost/cost-command.ts';
import { defineCommand, type CommandModule } from './command-line/command-module.ts';
import { freezeCommand, thawCommand } from './freeze/freeze-command.ts';
import { completeCommand, completionCommand } from './completion/completion-commands.ts';
import { FLEET_COMMANDS } from './fleet/fleet-commands.ts';
import { logCommand } from './log/log-command.ts';
import { checkStackCommand } from './stack/check-stack.ts';
import { resumeStackCommand, stopStackCommand } from './stack/stop-and-resume.ts';
import { getCommand } from './status/get-command.ts';
import { statusCommand } from './status/status-command.ts';
import { planCommand } from './plan/plan-command.ts';
import { uiCommand } from './ui/ui-command.ts';
import { whyCommand } from './why/why-command.ts';
import { ROLLOUT_COMMANDS } from './rollout/rollout-commands.ts';
import { RELEASE } from '../../functions/release.ts';

const versionCommand: CommandModule = defineCommand({
  path: ['version'],
  documents: ['Version'],
  summary: 'print the version of this program',
  examples: ['version'],
  run: () => Promise.resolve({ document: { kind: 'Version', version: RELEASE }, lines: [RELEASE] }),
});

/** All but the one that serves them to the page. */
const SERVED: readonly CommandModule[] = [
  addClusterCommand,
  importClustersCommand,
  listClustersCommand,
  showClusterCommand,
  setClusterCommand,
  resetClusterCommand,
  removeClusterCommand,
  issuerCommand,
  doctorCommand,
  statusCommand,
  getCommand,
  whyCommand,
  planCommand,
  costCommand,
  coverageCommand,
  logCommand,
  ...ROLLOUT_COMMANDS,
  ...FLEET_COMMANDS,
  freezeCommand,
  thawCommand,
  checkStackCommand,
  stopStackCommand,
  resumeStackCommand,
  completionCommand,
  versionCommand,
];

export const COMMANDS: readonly CommandModule[] = [...SERVED, uiCommand(SERVED)];

/** The command that shells call; in no --help. */
export const HIDDEN_COMMANDS: readonly CommandModule[] = [completeCommand(COMMANDS)];

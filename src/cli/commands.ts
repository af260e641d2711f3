/**
 * Every command of `rollcall`, in the order of `--help`. docs/cli.md describes each; a test compares.
 */
import { listClustersCommand } from './cluster/list-clusters.ts';
import type { CommandModule } from './command-line/command-module.ts';

/** The commands. */
export const COMMANDS: readonly CommandModule[] = [listClustersCommand];

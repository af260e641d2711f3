/**
 * Options of `cluster add` and `cluster import` on the command line, and the request that they make.
 *
 * An option that belongs to a request has its name there, so that a list for an import says the same in the
 * same words. Nothing is checked here but the form of labels: that is the request's schema's matter.
 */
import type { Command } from 'commander';
import { defined } from '@rollcall/base/defined.ts';
import { collect, parseLabel } from '../../command-line/cluster-arguments.ts';
import { ADD_MODES, AUTH_KINDS, REQUEST_FIELDS } from './add-request.ts';
import { CREDENTIAL_KINDS } from '../manifests/manifests.ts';

/** Options of both commands that are no field of a request, or not under its name. */
export interface CommonAddOptions {
  readonly label?: readonly string[];
  readonly privateRange?: readonly string[];
  readonly apply?: true;
  readonly dryRun?: true;
}

/** Declares the options that both commands have. */
export function declareCommonOptions(command: Command): void {
  command
    .option('--eks-region <region>', 'region of the EKS cluster (default: that of the stack)')
    .addOption(
      command
        .createOption(
          '--auth <way>',
          'how functions will get in: none (observe needs nothing), eks (access entries), bound-token (renewed by the cluster)',
        )
        .choices([...AUTH_KINDS]),
    )
    .addOption(
      command
        .createOption(
          '--mode <mode>',
          'observe (default): look only. copilot: time rollouts beside the built-in controller (needs --auth)',
        )
        .choices([...ADD_MODES]),
    )
    .addOption(
      command
        .createOption(
          '--credentials <kind>',
          'where the watcher gets its AWS credentials (default: irsa for EKS, else web-identity)',
        )
        .choices([...CREDENTIAL_KINDS]),
    )
    .option('--label <key=value>', 'a label of the cluster; repeatable', collect)
    .option(
      '--private-range <cidr>',
      'private range that its address may be in; repeatable',
      collect,
    )
    .option(
      '--cluster-profile <name>',
      'AWS profile of the account where the cluster is; its roles are deployed there',
    )
    .option('--same-account', 'the cluster is in the account of the stack')
    .option('--permissions-boundary <arn>', 'policy that bounds the roles which are made')
    .option('--image <reference>', 'image of the watcher (infra/watcher/Dockerfile)')
    .option('--apply', 'apply the manifests to the cluster')
    .option('--dry-run', 'show everything, write nothing');
}

/** Options that belong to a request have its names but for two; the others are about the command. */
export function requestFields(
  options: Readonly<Record<string, unknown>>,
  environment: Readonly<NodeJS.ProcessEnv>,
): Record<string, unknown> {
  const { label, privateRange } = options as Pick<CommonAddOptions, 'label' | 'privateRange'>;
  const image = environment['ROLLCALL_WATCHER_IMAGE'] ?? '';
  const named = Object.entries(options).filter(
    ([name, value]) => REQUEST_FIELDS.includes(name) && value !== undefined,
  );
  return {
    ...(image === '' ? {} : { image }),
    ...Object.fromEntries(named),
    ...(label === undefined ? {} : { labels: Object.fromEntries(label.map(parseLabel)) }),
    ...defined({ privateRanges: privateRange }),
  };
}

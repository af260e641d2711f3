/**
 * What a freeze or a thaw is of, as options say it: nothing means the whole stack.
 *
 * A cluster's freeze stands in its registration, the others in the stack's item; for whoever types they are one thing.
 */
import type { Command } from 'commander';
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { FreezeScope } from '../../core/takeover/freeze.ts';
import {
  excludeEachOther,
  parseClusterId,
  parseNamespacedName,
} from '../command-line/cluster-arguments.ts';

/** As commander parses them. */
export interface ScopeOptions {
  readonly cluster?: string;
  readonly daemonSet?: string;
  readonly yes?: true;
}

/** Of the stack's freeze, or of a cluster's own. */
export type Scope = FreezeScope | { readonly kind: 'cluster'; readonly id: ClusterId };

/** Declares the options. */
export function declareScope(command: Command, verb: 'freeze' | 'thaw'): void {
  command
    .option('--cluster <id>', `${verb} this cluster alone`)
    .option('--daemon-set <namespace/name>', `${verb} this DaemonSet, in every cluster`)
    .option('--yes', `without either: confirm that the whole stack is meant`);
}

/** What is meant. Throws CommandError (2). */
export function parseScope({ cluster, daemonSet }: ScopeOptions): Scope {
  excludeEachOther({ '--cluster': cluster, '--daemon-set': daemonSet });
  if (cluster !== undefined) return { kind: 'cluster', id: parseClusterId(cluster) };
  if (daemonSet === undefined) return { kind: 'stack' };
  return { kind: 'daemon-set', ...parseNamespacedName(daemonSet, 'DaemonSet') };
}

/** In a sentence. */
export function scopeText(scope: Scope): string {
  switch (scope.kind) {
    case 'stack':
      return 'the whole stack';
    case 'cluster':
      return `the cluster ${scope.id}`;
    case 'daemon-set':
      return `the DaemonSet ${scope.namespace}/${scope.name}, in every cluster`;
  }
}

/** In a document. */
export function scopeFields(scope: Scope): Readonly<Record<string, string>> {
  switch (scope.kind) {
    case 'stack':
      return { scope: scope.kind };
    case 'cluster':
      return { scope: scope.kind, cluster: scope.id };
    case 'daemon-set':
      return { scope: scope.kind, daemonSet: `${scope.namespace}/${scope.name}` };
  }
}

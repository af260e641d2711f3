/**
 * What `npm run deploy:local` says when it stands: what runs where, for a person, and as one JSON document.
 *
 * Neither holds a secret: tokens are in files below the directory that is named, and the outputs of the stack are
 * names and addresses.
 */
import type { ClusterOverview } from '../../src/engine/overview.ts';
import type { LocalDeployment, StepDurations } from './local-deployment.ts';

/** The document of `--json`, described in docs/try-it.md. */
export interface LocalDeploymentReport {
  readonly apiVersion: 'rollcall.dev/v1alpha1';
  readonly kind: 'LocalDeploymentReport';
  /** settled; timed-out (with `--exit-when-settled`); interrupted by a signal. */
  readonly result: 'settled' | 'timed-out' | 'interrupted';
  readonly waitingFor?: string;
  readonly endpoint: string;
  readonly emulator: 'found' | 'ministack';
  readonly stack: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly durationsMs: StepDurations;
  readonly cluster?: ClusterOverview;
}

/** Builds the document. */
export function buildLocalDeploymentReport(
  { emulator, deployment, stack, durationsMs }: LocalDeployment,
  end: Pick<LocalDeploymentReport, 'result' | 'waitingFor' | 'cluster'>,
): LocalDeploymentReport {
  return {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'LocalDeploymentReport',
    endpoint: emulator.endpoint,
    emulator: emulator.kind,
    stack: deployment.stackName,
    outputs: stack.outputs,
    durationsMs,
    ...end,
  };
}

/** Lines that say what runs where; `environmentPath` is the file for a second terminal. */
export function describeLocalDeployment(
  running: LocalDeployment,
  environmentPath: string,
): readonly string[] {
  const { emulator, deployment, managed, directory } = running;
  const pid = emulator.pid === undefined ? '' : `, process ${String(emulator.pid)}`;
  const origin = emulator.kind === 'found' ? 'it ran already' : `started here${pid}`;
  return [
    `AWS         ${emulator.endpoint} (${emulator.kind === 'found' ? '' : `${emulator.kind}, `}${origin})`,
    `stack       ${deployment.stackName}: functions run inside the emulator`,
    `cluster     ${managed.cluster.id} at ${managed.cluster.server}, in this process`,
    `watcher     process ${String(managed.watcher.pid() ?? 'ended')}, log ${managed.watcher.logPath}`,
    `kubeconfig  ${managed.kubeconfigPath}`,
    `logs        ${directory}`,
    '',
    'Try in another terminal:',
    `  . ${environmentPath}`,
    '  kubectl get daemonsets,pods --all-namespaces --output wide',
    '  rollcall cluster list',
    '',
    emulator.kind === 'found'
      ? 'Ctrl-C stops cluster and watcher; the stack stays: remove it with `npm run deploy:local -- --down`.'
      : 'Ctrl-C stops all of it.',
  ];
}

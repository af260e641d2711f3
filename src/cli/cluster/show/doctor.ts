/**
 * `rollcall cluster doctor`: checks every link between watcher, queue, functions and API server, and says
 * what to do.
 *
 * Changes nothing. Leaves with 0 only if no link has failed; what could not be checked from here is said,
 * and is no failure.
 */
import { defined } from '@rollcall/base/defined.ts';
import { listEveryCluster } from '../../../app/clusters/registry-transfer.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { createClusterInspection } from '../../../adapters/kubernetes/operator/cluster-inspection.ts';
import { diagnose, hasFailed } from '../../../app/doctor/diagnose.ts';
import { egressPolicy } from '../../../../functions/egress-policy.ts';
import { parseClusterId } from '../../command-line/cluster-arguments.ts';
import { defineCommand } from '../../command-line/command-module.ts';
import type { CommandModule } from '../../command-line/command-module.ts';
import { gatherFacts } from '../../doctor/gather-facts.ts';
import { renderFindings } from '../../doctor/render-findings.ts';
import { openStackFleets } from '../../doctor/stack-fleets.ts';
import type { WayIn } from '../../doctor/ways-in.ts';
import { EXIT, usageError } from '../../process/exit-codes.ts';
import type { Stack } from '../../reach/stack.ts';
import { connectByKubeconfig } from '../../reach/cluster-connection.ts';
import type { OperatorOptions } from '../../reach/operator-access.ts';

interface DoctorOptions extends OperatorOptions {
  readonly all?: true;
  readonly clusterProfile?: string;
}

const CLUSTERS_AT_ONCE = 8;

/** The command. */
export const doctorCommand: CommandModule = defineCommand<DoctorOptions>({
  path: ['cluster', 'doctor'],
  summary: 'check every link to a cluster, and say what to do next',
  configure: (command) => {
    command
      .argument('[id]', 'id of the cluster')
      .option('--all', 'all clusters of the stack')
      .option('--kubeconfig <file>', 'look into the cluster with your own credential as well')
      .option('--context <name>', 'which context of the kubeconfig')
      .option('--cluster-profile <name>', 'AWS profile of the account where the cluster is');
  },
  run: async ({ args: [id], options }, context) => {
    requireOneTarget(id, options);
    const stack = await context.openStack();
    const ids = id === undefined ? await listEveryCluster(stack.registry) : [parseClusterId(id)];
    const { clusterProfile } = options;
    const egress = egressPolicy({ ...context.environment, ROLLCALL_STAGE: stack.stage });
    const kubeconfig = await openKubeconfigWay(options, stack);
    const askFleets = openStackFleets(stack);
    const examined = await sideBySide(ids, CLUSTERS_AT_ONCE, async (one) => {
      const facts = await gatherFacts({
        stack,
        id: one,
        egress,
        kubeconfig,
        askFleets,
        ...defined({ clusterProfile }),
      });
      const findings = diagnose(facts);
      if (ids.length > 1) context.say(`examined ${one}`);
      return { id: one, findings };
    });
    const failed = examined.filter(({ findings }) => hasFailed(findings)).length;
    return {
      document: { kind: 'ClusterDoctor', clusters: examined, failed },
      lines: [
        ...examined.flatMap((one) => renderFindings(one.id, one.findings)),
        ...(ids.length === 0 ? ['No clusters are registered.'] : []),
        ...(ids.length > 1 ? [`${failed} of ${ids.length} clusters have a link that failed.`] : []),
      ],
      exitCode: failed === 0 ? EXIT.ok : EXIT.failed,
    };
  },
});

function requireOneTarget(id: string | undefined, options: DoctorOptions): void {
  if ((id === undefined) !== (options.all === true)) {
    throw usageError('Pass the id of a cluster, or --all.', 'rollcall cluster list shows the ids.');
  }
  if (options.all === true && (options.kubeconfig ?? options.context) !== undefined) {
    throw usageError(
      'A kubeconfig is for one cluster.',
      'Leave --all out, and pass the id of that cluster.',
    );
  }
}

/** Throws CommandError when the file that was named cannot be used. */
async function openKubeconfigWay(
  { kubeconfig, context }: DoctorOptions,
  { clock }: Stack,
): Promise<WayIn> {
  if (kubeconfig === undefined) return { why: 'no --kubeconfig was passed' };
  const { transport } = await connectByKubeconfig({
    file: kubeconfig,
    clock,
    ...defined({ context }),
  });
  return { inspection: createClusterInspection(transport) };
}

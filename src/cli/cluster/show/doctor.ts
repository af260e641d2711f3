/**
 * `rollcall cluster doctor`: checks every link between watcher, queue, functions and API server, and says
 * what to do.
 *
 * Changes nothing. Leaves with 0 only if no link has failed; what could not be checked from here is said,
 * and is no failure. Of many clusters, those without a problem are only counted.
 */
import { defined } from '@rollcall/base/defined.ts';
import { outagesOfStack, readStanding } from '../../../app/explain/standing.ts';
import { listEveryCluster, readRegistry } from '../../../app/clusters/read-registry.ts';
import type { RegistryContent } from '../../../app/clusters/read-registry.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { createClusterInspection } from '../../../adapters/kubernetes/operator/cluster-inspection.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { diagnose, hasFailed } from '../../../app/doctor/diagnose.ts';
import { egressPolicy } from '../../../../functions/egress-policy.ts';
import { parseClusterId } from '../../command-line/cluster-arguments.ts';
import { outageLines, readFreezeIn } from '../../command-line/freeze-words.ts';
import { defineCommand } from '../../command-line/command-module.ts';
import type { CommandContext, CommandModule } from '../../command-line/command-module.ts';
import { gatherFacts } from '../../doctor/gather-facts.ts';
import { renderFindings, renderProblems } from '../../doctor/render-findings.ts';
import { openStackFleets } from '../../doctor/stack-fleets.ts';
import type { WayIn } from '../../doctor/ways-in.ts';
import { CommandError, EXIT, usageError } from '../../process/exit-codes.ts';
import { requireProfile } from '../../reach/aws-profiles.ts';
import { connectByKubeconfig } from '../../reach/cluster-connection.ts';
import { defaultKubeconfig, findContext, nameOf } from '../../reach/open-kubeconfig.ts';
import type { KubeconfigPlace } from '../../reach/open-kubeconfig.ts';
import type { OperatorOptions } from '../../reach/operator-access.ts';

interface DoctorOptions extends OperatorOptions {
  readonly all?: true;
  readonly clusterProfile?: string;
  readonly verbose?: true;
}

const CLUSTERS_AT_ONCE = 8;

/** The command. */
export const doctorCommand: CommandModule = defineCommand<DoctorOptions>({
  path: ['cluster', 'doctor'],
  summary: 'check every link to a cluster, and say what to do next',
  configure: (command) => {
    command
      .argument('[id]', 'id of the cluster')
      .option('--all', 'all clusters of the stack: what is not in order, the rest counted')
      .option('--verbose', 'with --all: every link of every cluster')
      .option(
        '--kubeconfig <file>',
        'look into the cluster with this credential of yours (default: KUBECONFIG, then ~/.kube/config, the context with its server)',
      )
      .option('--context <name>', 'which context of the kubeconfig')
      .option('--cluster-profile <name>', 'AWS profile of the account where the cluster is');
  },
  run: async ({ args: [id], options }, context) => {
    requireOneTarget(id, options);
    const { clusterProfile } = options;
    if (clusterProfile !== undefined) requireProfile(clusterProfile, context.environment);
    const stack = await context.openStack();
    const ids = id === undefined ? await listEveryCluster(stack.registry) : [parseClusterId(id)];
    const egress = egressPolicy({ ...context.environment, ROLLCALL_STAGE: stack.stage });
    const openKubeconfig = await kubeconfigWays(options, context);
    const askFleets = openStackFleets(stack);
    let registry: Promise<RegistryContent> | undefined;
    const askRegistry = () => (registry ??= readRegistry(stack.registry));
    const examined = await sideBySide(ids, CLUSTERS_AT_ONCE, async (one) => {
      const facts = await gatherFacts({
        stack,
        id: one,
        egress,
        openKubeconfig,
        askFleets,
        askRegistry,
        ...defined({ clusterProfile }),
      });
      const findings = diagnose(facts);
      if (options.verbose === true) context.say(`examined ${one}`);
      return { id: one, findings };
    });
    const [freeze, standing] = await Promise.all([readFreezeIn(stack), readStanding(stack)]);
    const outages = outagesOfStack(standing, { freeze, nowMs: stack.clock.nowMs() });
    const failed = examined.filter(({ findings }) => hasFailed(findings)).length;
    const isWhole = options.all !== true || options.verbose === true;
    return {
      document: { kind: 'ClusterDoctor', clusters: examined, failed, outages },
      lines: [
        ...outageLines(outages),
        ...(isWhole
          ? examined.flatMap((one) => renderFindings(one.id, one.findings))
          : renderProblems(examined)),
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

type OpenWay = (registration: ClusterRegistration) => Promise<WayIn>;

/** Throws CommandError when the file or context that was named cannot be used. */
async function kubeconfigWays(
  { kubeconfig, context: named }: DoctorOptions,
  { clock, environment }: CommandContext,
): Promise<OpenWay> {
  const open = async (place: KubeconfigPlace): Promise<WayIn> => {
    const { transport } = await connectByKubeconfig({ ...place, clock });
    return { inspection: createClusterInspection(transport) };
  };
  const file = kubeconfig ?? defaultKubeconfig(environment);
  if (kubeconfig !== undefined || named !== undefined) {
    const way = await open({ file, ...defined({ context: named }) });
    return () => Promise.resolve(way);
  }
  // Nobody named a cluster: only a context that leads to the registered server is that cluster's.
  return async ({ server }) => {
    try {
      const context = await findContext(file, server);
      if (context !== undefined) return await open({ file, context });
      return { why: `no context of ${nameOf(file)} has the server ${server}` };
    } catch (error) {
      if (error instanceof CommandError)
        return { why: `no --kubeconfig was passed; ${error.message}` };
      throw error;
    }
  };
}

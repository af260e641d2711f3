/**
 * Starts a control plane for manual trials and keeps it until Ctrl-C.
 *
 * Usage: node scripts/launch.mjs test/conformance/control-plane/run.ts [--nodes 20] [--varied]
 *        [--daemonset-controller on|off] [--limits default|lifted]
 *        [--data-dir DIRECTORY]
 */
import { parseArgs } from 'node:util';
import { createApiClient } from './api.ts';
import { startControlPlane } from './control-plane.ts';
import { createNodes, plainNodes, variedNodes } from './nodes.ts';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '20' },
    varied: { type: 'boolean', default: false },
    'daemonset-controller': { type: 'string', default: 'off' },
    limits: { type: 'string', default: 'lifted' },
    'data-dir': { type: 'string' },
  },
});
const nodeCount = Number.parseInt(values.nodes, 10);
const dataDir = values['data-dir'];
const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<string>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);

const startedAtMs = performance.now();
const controlPlane = await startControlPlane({
  daemonSetController: values['daemonset-controller'] === 'on' ? 'on' : 'off',
  limits: values.limits === 'default' ? 'default' : 'lifted',
  ...(dataDir === undefined ? {} : { dataDir }),
});
try {
  const admin = createApiClient(controlPlane.connectionOf('admin'));
  await createNodes(admin, values.varied ? variedNodes(nodeCount) : plainNodes(nodeCount));
  admin.close();
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
  process.stdout.write(
    [
      `control plane with ${String(nodeCount)} nodes, started in ${seconds} s`,
      `  server      ${controlPlane.server}`,
      `  kubeconfig  ${controlPlane.kubeconfigPath}`,
      `  kubectl     ${controlPlane.kubectlPath}`,
      `  logs, audit ${controlPlane.directory}`,
      `export KUBECONFIG=${controlPlane.kubeconfigPath}`,
      'Ctrl-C stops it.\n',
    ].join('\n'),
  );
  const alive = setInterval(() => undefined, 60_000);
  await interrupted;
  clearInterval(alive);
} finally {
  await controlPlane.stop();
}

/**
 * What the published package offers to programs: a cluster in one call. The repository imports files instead.
 */
export { createStderrLog } from '@rollcall/base/system/stderr-log.ts';
export { createSystemClock } from '@rollcall/base/system/system-clock.ts';
export { createSystemRandom } from '@rollcall/base/system/system-random.ts';
export { renderKubeconfig } from './cluster/kubeconfig.ts';
export { startLocalCluster } from './cluster/start-local-cluster.ts';
export { plainMachines } from './machines/machines.ts';
export { variedMachines } from './machines/machines.ts';

#!/usr/bin/env node
/**
 * The command `local-cluster`: starts a cluster, writes its kubeconfig, says what to do next, and stays until Ctrl-C.
 *
 * Exit codes: 0 stopped, 1 it could not start, 2 the arguments cannot be followed.
 */
import { counted } from '@rollcall/base/counted.ts';
import { rmSync, writeFileSync } from 'node:fs';
import { createStderrLog } from '@rollcall/base/system/stderr-log.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { untilInterrupted } from '@rollcall/base/system/until-interrupted.ts';
import { renderKubeconfig } from '../cluster/kubeconfig.ts';
import { startLocalCluster } from '../cluster/start-local-cluster.ts';
import { plainMachines } from '../machines/machines.ts';
import { HELP, parseCommand } from './options.ts';
import type { CommandOptions } from './options.ts';

async function run(options: CommandOptions): Promise<number> {
  const { nodesCount, port, kubeconfigFile, dataDirectory } = options;
  const interrupted = untilInterrupted();
  let cluster;
  try {
    cluster = await startLocalCluster({
      name: 'local',
      port,
      machines: plainMachines(nodesCount),
      ...(dataDirectory === undefined ? {} : { dataDirectory }),
      clock: createSystemClock(),
      random: createSystemRandom(),
      log: createStderrLog(),
    });
    // Made anew: one that was there may be open to others.
    rmSync(kubeconfigFile, { force: true });
    writeFileSync(kubeconfigFile, renderKubeconfig([cluster]), { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    process.stderr.write(`local-cluster: it could not start: ${String(cause)}\n`);
    await cluster?.stop();
    return 1;
  }
  process.stdout.write(
    `A cluster of ${counted(nodesCount, 'node')} answers at ${cluster.server}\n` +
      `  kubectl --kubeconfig ${kubeconfigFile} get nodes\nCtrl-C stops it.\n`,
  );
  await interrupted;
  await cluster.stop();
  return 0;
}

async function main(argv: readonly string[]): Promise<number> {
  const parsed = parseCommand(argv);
  switch (parsed.kind) {
    case 'help':
      process.stdout.write(HELP);
      return 0;
    case 'refused':
      process.stderr.write(`local-cluster: ${parsed.message}\nlocal-cluster --help\n`);
      return 2;
    case 'run':
      return run(parsed.options);
  }
}

process.exitCode = await main(process.argv.slice(2));

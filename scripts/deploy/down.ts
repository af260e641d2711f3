/**
 * `npm run deploy:local -- --down`: removes the stack from an emulator that goes on running.
 *
 * What a removed stack retains, the registry table, goes too: at an emulator nothing is lost with it, and the next
 * deployment needs its name. Clusters are not touched: what was placed there stays as it is.
 */
import { EXIT } from '../../src/cli/process/exit-codes.ts';
import { awsEnvironment } from './aws-environment.ts';
import { doesAnswer } from './emulator.ts';
import type { DeployOptions } from './options.ts';
import { createStackDeployment } from './stack-deployment.ts';

/** Removes it; returns the exit code. */
export async function runDown({ endpoint, isJson }: DeployOptions): Promise<number> {
  const say = (text: string): void => {
    process.stderr.write(`${text}\n`);
  };
  const isThere = await doesAnswer(endpoint);
  if (isThere) {
    const deployment = createStackDeployment({
      environment: awsEnvironment(endpoint.origin, process.env),
    });
    say(`removing the stack ${deployment.stackName} …`);
    await deployment.remove();
    say('removing the registry table, which the stack retained …');
    await deployment.removeRegistry();
  } else {
    say(`nothing answers at ${endpoint.origin}: there is nothing to remove`);
  }
  if (isJson) {
    const report = {
      apiVersion: 'rollcall.dev/v1alpha1',
      kind: 'LocalRemovalReport',
      result: isThere ? 'removed' : 'nothing-there',
      endpoint: endpoint.origin,
    };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  }
  return EXIT.ok;
}

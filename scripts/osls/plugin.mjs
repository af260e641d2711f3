/**
 * What osls does for Rollcall beside packaging and deploying: refuses parameters that AWS would refuse later, before
 * anything is packaged, and protects the registry when a deployment has succeeded.
 *
 * JavaScript, because osls runs under whatever Node `npx osls` finds. Nothing of AWS is loaded or asked before that
 * moment: packaging needs neither network nor credentials.
 */
import { checkParameters } from './check-parameters.mjs';
import { protectRegistry, registryNameOf } from './protect-registry.mjs';

/**
 * The parts of osls that are used here.
 * @typedef {object} Osls
 * @property {(name: 'aws') => AwsProvider} getProvider
 * @property {{ custom?: { chosen?: Record<string, unknown> } }} service as it is once variables are resolved
 */
/**
 * @typedef {object} AwsProvider
 * @property {{ getStackName: () => string }} naming
 * @property {() => Promise<import('@aws-sdk/client-dynamodb').DynamoDBClientConfig>} getAwsSdkV3Config
 */
/**
 * @typedef {object} Tools
 * @property {{ notice: (line: string) => void }} log
 */

/** The plugin; osls makes one for each command. */
class RollcallPlugin {
  /**
   * @param {Osls} serverless
   * @param {Record<string, unknown>} _options
   * @param {Tools} tools
   */
  constructor(serverless, _options, tools) {
    this.serverless = serverless;
    this.tools = tools;
    /** @type {Record<string, () => Promise<void>>} */
    this.hooks = {
      'before:package:cleanup': () => this.check(),
      'after:deploy:finalize': () => this.protect(),
    };
  }

  /** Throws with every fault, by the name of its parameter. */
  async check() {
    const chosen = Object.entries(this.serverless.service.custom?.chosen ?? {});
    const faults = checkParameters(
      Object.fromEntries(
        chosen.map(([name, value]) => [name, typeof value === 'string' ? value : '']),
      ),
    );
    if (faults.length === 0) return;
    const lines = faults.map(({ field, problem, remedy }) => `${field}: ${problem}. ${remedy}`);
    throw new Error(`The parameters of this deployment cannot be used:\n${lines.join('\n')}`);
  }

  /** Looks at the table whether or not anything was deployed: a table made without protection gets it here. */
  async protect() {
    const provider = this.serverless.getProvider('aws');
    const { DescribeTableCommand, DynamoDBClient, UpdateTableCommand } =
      await import('@aws-sdk/client-dynamodb');
    const client = new DynamoDBClient(await provider.getAwsSdkV3Config());
    const tableName = registryNameOf(provider.naming.getStackName());
    try {
      const done = await protectRegistry(
        {
          isProtected: async (TableName) => {
            const { Table } = await client.send(new DescribeTableCommand({ TableName }));
            return Table?.DeletionProtectionEnabled === true;
          },
          protect: async (TableName) => {
            await client.send(
              new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true }),
            );
          },
        },
        tableName,
      );
      if (done === 'protected') this.tools.log.notice(`${tableName} is protected from deletion`);
    } finally {
      client.destroy();
    }
  }
}

// osls asks for the default of a module.
export { RollcallPlugin as default };

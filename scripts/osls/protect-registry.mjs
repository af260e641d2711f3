/**
 * Switches the deletion protection of the registry table on, once a deployment has succeeded.
 *
 * Not part of the template: a protected table cannot be deleted by CloudFormation either, so the rollback of a first
 * deployment would fail, and every later one with it (ADR 0026). Idempotent: a protected table is only looked at.
 */

/**
 * The table that a stack keeps its registry in (infra/tables.yml).
 * @param {string} stackName
 */
export function registryNameOf(stackName) {
  return `${stackName}-registry`;
}

/**
 * A table, as far as this looks at it.
 * @typedef {object} TablePort
 * @property {(tableName: string) => Promise<boolean>} isProtected whether the table refuses to be deleted
 * @property {(tableName: string) => Promise<void>} protect
 */

/**
 * Protects a table. Throws, with what to do by hand, when that is not possible: the deployment itself has succeeded.
 * @param {TablePort} tables
 * @param {string} tableName
 * @returns {Promise<'protected' | 'was-protected'>}
 */
export async function protectRegistry(tables, tableName) {
  try {
    if (await tables.isProtected(tableName)) return 'was-protected';
    await tables.protect(tableName);
    return 'protected';
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The stack is deployed, but its registry ${tableName} could not be protected from deletion: ${reason}\n` +
        'Deploy again with the rights dynamodb:DescribeTable and dynamodb:UpdateTable, or run: ' +
        `aws dynamodb update-table --table-name ${tableName} --deletion-protection-enabled`,
      { cause: error },
    );
  }
}

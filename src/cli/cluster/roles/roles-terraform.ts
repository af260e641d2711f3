/**
 * Terraform for the roles of one cluster: the module infra/terraform/cluster-roles with its variables filled in.
 *
 * The variables are the parameters of infra/cluster/roles.yml by the same names. Every value is fixed text, escaped: none can
 * begin an expression. The version of the provider is left out, since a folder may say that once.
 */
import { readFileSync } from 'node:fs';
import { packageFile } from '../../../engine/package-files.ts';
import type { RolesParameters } from './roles.ts';

const MODULE = 'infra/terraform/cluster-roles';
const FILES = ['main.tf', 'variables.tf', 'documents.tf', 'outputs.tf'];

/** `ClusterId` as Terraform writes names: `cluster_id`. */
export function terraformName(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase();
}

function quote(text: string): string {
  // JSON's escapes are HCL's; what would begin a template is doubled.
  return JSON.stringify(text).replaceAll(/([$%])\{/g, (_, sign: string) => `${sign}${sign}{`);
}

/** The module as one text, with the parameters as defaults: applied as it is, nothing is asked. */
export function writeTerraform(parameters: RolesParameters): string {
  const files = FILES.map((file) => readFileSync(packageFile(`${MODULE}/${file}`), 'utf8'));
  let text = files.join('\n');
  for (const [name, value] of Object.entries(parameters)) {
    const variable = new RegExp(
      `(^variable "${terraformName(name)}" \\{\\n.*\\n  type        = string\\n)(?:  default .*\\n)?`,
      'm',
    );
    if (!variable.test(text)) throw new Error(`${MODULE} has no ${name}`);
    const filled = `  default     = ${quote(value)}\n`;
    text = text.replace(variable, (_, head: string) => `${head}${filled}`);
  }
  return text;
}

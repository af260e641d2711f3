/**
 * Terraform for the roles of one cluster, made from the same template as CloudFormation's.
 *
 * Needs the AWS provider 5 or later. Each type of resource of the template has its translation here; a
 * type without one is an error, never left out. What is printed is fixed text and JSON-like values, every
 * string escaped: no parameter can begin an expression.
 */
import { ACCOUNT, Expression, TextParts } from '@rollcall/local-aws/template/evaluate.ts';
import type {
  Evaluated,
  EvaluatedResource,
  EvaluatedTemplate,
} from '@rollcall/local-aws/template/evaluate.ts';

const ACCOUNT_EXPRESSIONS: Readonly<Record<string, string>> = {
  AccountId: 'data.aws_caller_identity.current.account_id',
  Partition: 'data.aws_partition.current.partition',
};
const ATTRIBUTES: Readonly<Record<string, string>> = { Arn: 'arn', RoleId: 'unique_id' };
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `WatcherRole` as Terraform writes names: `watcher_role`. */
function snake(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase();
}

function quote(text: string): string {
  // JSON's escapes are HCL's; what would begin a template is doubled.
  return JSON.stringify(text).replaceAll(/([$%])\{/g, (_, sign: string) => `${sign}${sign}{`);
}

class TerraformWriter {
  readonly #types: ReadonlyMap<string, string>;

  constructor(resources: readonly EvaluatedResource[]) {
    this.#types = new Map(resources.map(({ id, type }) => [id, terraformType(type)]));
  }

  value(value: Evaluated, indent = ''): string {
    if (value instanceof Expression) return this.#expression(value);
    if (value instanceof TextParts) return this.#template(value);
    if (typeof value === 'string') return quote(value);
    if (typeof value !== 'object' || value === null) return String(value);
    const deeper = `${indent}  `;
    if (isList(value)) {
      return `[${value.map((item) => this.value(item, indent)).join(', ')}]`;
    }
    const lines = Object.entries(value).map(([key, item]) => {
      const name = IDENTIFIER.test(key) ? key : quote(key);
      return `${deeper}${name} = ${this.value(item, deeper)}`;
    });
    return `{\n${lines.join('\n')}\n${indent}}`;
  }

  #template({ parts }: TextParts): string {
    const pieces = parts.map((part) =>
      part instanceof Expression ? `\${${this.#expression(part)}}` : quote(part).slice(1, -1),
    );
    return `"${pieces.join('')}"`;
  }

  #expression({ target, attribute }: Expression): string {
    const type = this.#types.get(target);
    const found =
      target === ACCOUNT
        ? ACCOUNT_EXPRESSIONS[attribute]
        : type !== undefined && ATTRIBUTES[attribute] !== undefined
          ? `${type}.${snake(target)}.${ATTRIBUTES[attribute]}`
          : undefined;
    if (found === undefined) throw new Error(`no Terraform for ${target}.${attribute}`);
    return found;
  }
}

/** Array.isArray does not narrow a readonly array. */
function isList(value: Evaluated): value is readonly Evaluated[] {
  return Array.isArray(value);
}

const TYPES: Readonly<Record<string, string>> = {
  'AWS::IAM::Role': 'aws_iam_role',
  'AWS::IAM::OIDCProvider': 'aws_iam_openid_connect_provider',
  'AWS::EKS::PodIdentityAssociation': 'aws_eks_pod_identity_association',
};

function terraformType(type: string): string {
  const found = TYPES[type];
  if (found === undefined) throw new Error(`no Terraform for ${type}`);
  return found;
}

/** Properties that keep their meaning and change their name. */
const RENAMED: Readonly<Record<string, string>> = {
  RoleName: 'name',
  AssumeRolePolicyDocument: 'assume_role_policy',
};
const DOCUMENTS = new Set(['AssumeRolePolicyDocument']);

function writeBlock(head: string, lines: readonly string[]): string {
  const body = lines.map((line) => (line === '' ? '' : `  ${line}`));
  return `${head} {\n${body.join('\n')}\n}\n`;
}

function writeResource(writer: TerraformWriter, resource: EvaluatedResource): readonly string[] {
  const { id, properties } = resource;
  const name = snake(id);
  const { Policies: policies, ...attributes } = properties;
  const lines = Object.entries(attributes).map(([property, value]) => {
    const text = writer.value(value, '  ');
    const attribute = RENAMED[property] ?? snake(property);
    return `${attribute} = ${DOCUMENTS.has(property) ? `jsonencode(${text})` : text}`;
  });
  const isKept = resource.type === 'AWS::IAM::OIDCProvider';
  const kept = isKept ? ['', 'lifecycle {', '  prevent_destroy = true', '}'] : [];
  const block = writeBlock(`resource "${terraformType(resource.type)}" "${name}"`, [
    ...lines,
    ...kept,
  ]);
  const written = policies !== undefined && isList(policies) ? policies : [];
  return [block, ...written.map((policy) => writePolicy(writer, name, policy))];
}

function writePolicy(writer: TerraformWriter, role: string, policy: Evaluated): string {
  const { PolicyName: name = null, PolicyDocument: document = null } = policy as Readonly<
    Record<string, Evaluated>
  >;
  return writeBlock(`resource "aws_iam_role_policy" "${role}"`, [
    `name = ${writer.value(name)}`,
    `role = aws_iam_role.${role}.name`,
    `policy = jsonencode(${writer.value(document, '  ')})`,
  ]);
}

/** Terraform for what the template makes, with its outputs. */
export function writeTerraform(template: EvaluatedTemplate): string {
  const writer = new TerraformWriter(template.resources);
  const blocks = template.resources.flatMap((resource) => writeResource(writer, resource));
  const outputs = Object.entries(template.outputs).map(([name, value]) =>
    writeBlock(`output "${snake(name)}"`, [`value = ${writer.value(value)}`]),
  );
  const body = [...blocks, ...outputs].join('\n');
  const facts = ['aws_caller_identity', 'aws_partition']
    .filter((type) => body.includes(`data.${type}.current`))
    .map((type) => `data "${type}" "current" {}\n\n`);
  return `${facts.join('')}${body}`;
}

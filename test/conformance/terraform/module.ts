/**
 * The Terraform modules of infra/terraform, as far as they run without the provider of AWS, which no registry of packages has.
 *
 * Terraform itself evaluates them: each resource stands as one of `terraform_data`, which comes with Terraform, and what AWS
 * would answer is made up. Their attributes are looked up in the provider's schema, as a package of npm has it as types.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  ensureInstalled,
  runDownloader,
  runInstaller,
} from '../../../scripts/lib/install-cache.ts';
import { runTool } from '../../../scripts/lib/run-tool.ts';
import { repositoryPath } from '../scenarios/repository.ts';

/** A resource as it is written. */
export interface WrittenResource {
  readonly type: string;
  readonly name: string;
  /** Attributes and blocks, without those that all resources have. */
  readonly attributes: readonly string[];
  /** Attributes of its blocks, by the block. */
  readonly blocks: ReadonlyMap<string, readonly string[]>;
}

/** What Terraform made of a module. */
export interface Evaluated {
  /** Attributes of each resource, by `type.name`. */
  readonly resources: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  readonly outputs: Readonly<Record<string, unknown>>;
}

const META = ['count', 'for_each', 'lifecycle'];
/** Of the provider 6.25, from whose schema its types are made. */
const TYPES = '@cdktf/provider-aws@21.22.1';
const RESOURCE = /^resource "(\w+)" "(\w+)" \{\n([^]*?)^\}\n/gm;
const MADE_UP = {
  'data.aws_caller_identity.current.account_id': '"111122223333"',
  'data.aws_partition.current.partition': '"aws"',
};

/** Text of a module: that of its files. */
export function readModule(name: string): string {
  const folder = repositoryPath(`infra/terraform/${name}`);
  const files = readdirSync(folder).filter(
    (file) => file.endsWith('.tf') && file !== 'versions.tf',
  );
  return files.map((file) => readFileSync(path.join(folder, file), 'utf8')).join('\n');
}

/** The resources that a text declares. */
export function writtenResources(text: string): readonly WrittenResource[] {
  return [...text.matchAll(RESOURCE)].map(([, type = '', name = '', body = '']) => {
    const own = [...body.matchAll(/^ {2}(\w+) +(?:= |\{)/gm)].map(([, one = '']) => one);
    const blocks = [...body.matchAll(/^ {2}(\w+) \{\n([^]*?)^ {2}\}\n/gm)].map(
      ([, block = '', inner = '']) =>
        [block, [...inner.matchAll(/^ {4}(\w+) += /gm)].map(([, one = '']) => one)] as const,
    );
    return {
      type,
      name,
      attributes: own.filter((one) => !META.includes(one)),
      blocks: new Map(blocks.filter(([block]) => !META.includes(block))),
    };
  });
}

/**
 * Has Terraform evaluate a module in an empty folder; rejects with what it says. With a `call` the module stands in the
 * folder `inputs`, and the call's outputs are those that count.
 */
export async function evaluate(text: string, directory: string, call = ''): Promise<Evaluated> {
  const folder = call === '' ? directory : path.join(directory, 'inputs');
  mkdirSync(folder, { recursive: true });
  if (call !== '') writeFileSync(path.join(directory, 'main.tf'), call);
  let module = text.replaceAll(/^data .*\n/gm, '');
  for (const [expression, value] of Object.entries(MADE_UP)) {
    module = module.replaceAll(expression, value);
  }
  module = module
    .replaceAll(RESOURCE, (_, type: string, name: string, body: string) =>
      standIn(type, name, body),
    )
    .replaceAll(
      /\b(aws_\w+)\.(\w+)((?:\[[0*]\])?)\.(arn|id|unique_id)\b/g,
      (_, ...found: string[]) => {
        const [type = '', name = '', index = '', attribute = ''] = found;
        return `terraform_data.${type}--${name}${index}.output.made_up_${attribute}`;
      },
    );
  writeFileSync(path.join(folder, 'main.tf'), module);
  const terraform = async (...parameters: readonly string[]): Promise<string> => {
    const environment = { ...process.env, CHECKPOINT_DISABLE: '1', TF_IN_AUTOMATION: '1' };
    const result = await runTool({ program: 'terraform', parameters, directory, environment });
    if (result.exitCode !== 0) throw new Error(`${result.stdout}${result.stderr}`);
    return result.stdout;
  };
  await terraform('init', '-no-color', '-input=false');
  await terraform('validate', '-no-color');
  await terraform('apply', '-no-color', '-input=false', '-auto-approve');
  const state = JSON.parse(await terraform('show', '-json')) as {
    readonly values: {
      readonly outputs?: Readonly<Record<string, { readonly value: unknown }>>;
      readonly root_module: {
        readonly resources?: readonly {
          readonly name: string;
          readonly values: { readonly output: Readonly<Record<string, unknown>> };
        }[];
      };
    };
  };
  const { outputs = {}, root_module: root } = state.values;
  const resources = (root.resources ?? []).map(({ name, values }) => {
    const attributes = Object.entries(values.output).filter(
      ([key, value]) => !key.startsWith('made_up_') && value !== null,
    );
    return [name.replace('--', '.'), Object.fromEntries(attributes)] as const;
  });
  return {
    resources: new Map(resources),
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value])),
  };
}

/** Attributes become those of its input; what AWS would make of it is named after it. */
function standIn(type: string, name: string, body: string): string {
  const meta = body.match(/^ {2}(?:count|for_each) += .*$/gm) ?? [];
  const attributes = body
    .replaceAll(/^ {2}(\w+) \{\n([^]*?)^ {2}\}\n/gm, '')
    .replaceAll(/^ {2}(?:count|for_each) += .*\n/gm, '');
  const madeUp = ['arn', 'id', 'unique_id'].map(
    (one) => `    made_up_${one} = "${one} of ${name}"`,
  );
  const input = ['  input = {', attributes, ...madeUp, '  }'].join('\n');
  return `resource "terraform_data" "${type}--${name}" {\n${meta.join('\n')}\n${input}\n}\n`;
}

/** What the provider's schema has in a resource, or a block of it: whether it has to be given, by its name. */
export async function schemaOf(type: string, block = ''): Promise<ReadonlyMap<string, boolean>> {
  const folder = await ensureInstalled({
    name: 'terraform-provider-types',
    recipes: [import.meta.filename],
    install: async (target) => {
      await runDownloader('npm', ['pack', '--silent', '--pack-destination', target, TYPES]);
      const [archive = ''] = readdirSync(target);
      const members = ['--wildcards', '--strip-components=2', 'package/lib/*/index.d.ts'];
      await runInstaller('tar', ['-xzf', path.join(target, archive), '-C', target, ...members]);
      await runInstaller('rm', [path.join(target, archive)]);
    },
  });
  const name = type.replace(/^aws_/, '').replaceAll('_', '-');
  const text = readFileSync(path.join(folder, name, 'index.d.ts'), 'utf8');
  const camel = (words: string): string =>
    words.replaceAll(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase());
  const face = block === '' ? `${camel(name)}Config extends` : `${camel(name)}${camel(block)} {`;
  const from = text.indexOf(`export interface ${face}`);
  assert.ok(from >= 0, `the provider has no ${type} ${block}`);
  const body = text.slice(from, text.indexOf('\n}\n', from));
  const members = body.matchAll(/#(\w+) \w+#\w+\}[^]*?readonly \w+(\??):/g);
  return new Map([...members].map(([, one = '', optional]) => [one, optional === '']));
}

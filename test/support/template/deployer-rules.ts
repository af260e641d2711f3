/** The rule that docs/operations.md lists every right that who deploys needs (aws-rules F16 h). */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { DEPLOYER_ACTIONS } from './deployer-actions.ts';
import type { Rule, Template } from './template.ts';

const ROW = /^\| `(AWS::[A-Za-z0-9:]+)` \| (.*) \|$/gm;

/** Actions by type of resource, as the page lists them. */
function listedActions(page: string): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    [...page.matchAll(ROW)].map(([, type = '', cell = '']) => [
      type,
      new Set([...cell.matchAll(/`([a-z0-9]+:[A-Za-z]+)`/g)].map(([, action = '']) => action)),
    ]),
  );
}

/** What a page lacks of the rights that a template asks for, and what it lists for nothing. */
export function deployerFaults(template: Template, page: string): readonly string[] {
  const listed = listedActions(page);
  const needed = new Map<string, Set<string>>();
  const unknown = new Set<string>();
  for (const { Type: type, Properties: properties = {} } of Object.values(template.Resources)) {
    const actions = DEPLOYER_ACTIONS[type];
    if (actions === undefined) {
      unknown.add(type);
      continue;
    }
    const known = needed.get(type) ?? new Set(actions.always);
    for (const [property, more] of Object.entries(actions.withProperty ?? {})) {
      if (property in properties) for (const action of more) known.add(action);
    }
    needed.set(type, known);
  }
  return [
    ...[...unknown].map((type) => `${type}: nobody has said which rights it needs`),
    ...[...needed].flatMap(([type, actions]) =>
      [...actions]
        .filter((action) => listed.get(type)?.has(action) !== true)
        .map((action) => `${type}: ${action} is not listed`),
    ),
    ...[...listed.keys()].filter((type) => !needed.has(type)).map((type) => `${type}: unused`),
  ];
}

const deployerListed: Rule = {
  name: 'docs/operations.md lists every right of who deploys (F16)',
  check: (template) =>
    deployerFaults(template, readFileSync(path.join(repositoryRoot, 'docs/operations.md'), 'utf8')),
};

/** All of them. */
export const deployerRules: readonly Rule[] = [deployerListed];

/**
 * Rules about what may be done to the key (aws-rules F1). IAM counts for a key only where the key's own policy delegates
 * the action: what is missing there nobody may do, root included, and a deployment that needs it fails for everybody.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { alternatives, at, isMap, listOf, ofType, textOf, textsIn } from './template.ts';
import type { Rule, Template } from './template.ts';

/**
 * What CloudFormation's handlers call on the key itself to make, read, change and remove a resource, and what tagging of
 * the stack asks for. From the handlers' published schemas; `kms:CreateKey` and lists name no key.
 */
const HANDLER_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  'AWS::KMS::Key': [
    'kms:DescribeKey',
    'kms:DisableKey',
    'kms:DisableKeyRotation',
    'kms:EnableKey',
    'kms:EnableKeyRotation',
    'kms:GetKeyPolicy',
    'kms:GetKeyRotationStatus',
    'kms:ListResourceTags',
    'kms:PutKeyPolicy',
    'kms:ScheduleKeyDeletion',
    'kms:TagResource',
    'kms:UntagResource',
    'kms:UpdateKeyDescription',
  ],
  // An alias needs its right on the alias by IAM, and the same right on the key by the key's policy.
  'AWS::KMS::Alias': ['kms:CreateAlias', 'kms:UpdateAlias', 'kms:DeleteAlias'],
};
/** docs/operations.md tells an operator to do these by hand. */
const RUN_BOOK_ACTIONS = ['kms:CancelKeyDeletion', 'kms:EnableKey'];
const CLIENT_IMPORT = /import \{([^}]*)\} from '@aws-sdk\/client-kms'/gs;

/** Actions of every command of the key service that code sends. */
function actionsOfCode(): readonly string[] {
  const files = globSync('{src,functions,packages/*/src,scripts}/**/*.{ts,mjs}', {
    cwd: repositoryRoot,
  });
  return files.flatMap((file) => {
    const source = readFileSync(path.join(repositoryRoot, file), 'utf8');
    return [...source.matchAll(CLIENT_IMPORT)]
      .flatMap(([, names = '']) => [...names.matchAll(/\b([A-Z]\w+)Command\b/g)])
      .map(([, command = '']) => `kms:${command}`);
  });
}

/** Actions that the template itself gives to roles. */
function actionsOfRoles(template: Template): readonly string[] {
  return ofType(template, 'AWS::IAM::Role')
    .flatMap(({ properties }) => textsIn(properties['Policies'] ?? null))
    .filter((text) => text.startsWith('kms:') && /^kms:[A-Z][A-Za-z]+$/.test(text));
}

const delegated: Rule = {
  name: 'the key’s policy delegates every action that roles, code, run-book and CloudFormation use on it (F1)',
  check: (template) => {
    const handlers = Object.entries(HANDLER_ACTIONS)
      .filter(([type]) => ofType(template, type).length > 0)
      .flatMap(([, actions]) => actions);
    const code = actionsOfCode();
    const needed = new Set([
      ...handlers,
      ...RUN_BOOK_ACTIONS,
      ...code,
      ...actionsOfRoles(template),
    ]);
    const missing = ofType(template, 'AWS::KMS::Key').flatMap(({ id, properties }) => {
      const allowed = new Set(
        listOf(at(properties, 'KeyPolicy', 'Statement'))
          .flatMap(alternatives)
          .filter((one) => isMap(one) && one['Effect'] === 'Allow')
          .flatMap((one) => listOf(at(one, 'Action')).map(textOf)),
      );
      return [...needed].filter((action) => !allowed.has(action)).map((one) => `${id}: ${one}`);
    });
    return code.length > 1 ? missing : ['no command of the key service was found in the code'];
  },
};

/** All of them. */
export const keyRules: readonly Rule[] = [delegated];

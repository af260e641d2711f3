/**
 * Text that must not be in a file: a machine's paths, package registries, commands that need another Node, tests left on
 * `.only`, invisible characters, suppressions without a reason.
 *
 * A suppression is written `eslint-disable-next-line rule -- why`, `@ts-expect-error -- why`. The patterns below are
 * written so that they do not match themselves. It looks at every text file, the lockfile and documents included.
 */
import type { Finding, Repository, TextFile } from './repository.ts';

interface TextRule {
  readonly rule: string;
  readonly pattern: RegExp;
  readonly message: string;
  /** Which files the rule is about; all, if it is missing. */
  readonly paths?: RegExp;
}

const codePaths = /\.(ts|mjs|js)$/;

const textRules: readonly TextRule[] = [
  {
    rule: 'machine-path',
    pattern: /(?<![\w.-])\/(work|home|Users)\/[a-z][\w.-]*/,
    message: 'a path of one machine',
  },
  {
    rule: 'registry-host',
    pattern: /\b(registry\.(npmjs|yarnpkg)|pypi|(proxy|sum)\.golang|repo1?\.maven)\.[a-z]+/,
    message: 'the address of a package registry: the machine that installs says where from',
  },
  {
    rule: 'lockfile-address',
    pattern: /"resolved": "(?!packages\/[\w-]+")/,
    message: 'an address in the lockfile: install with omit-lockfile-registry-resolved',
    paths: /^package-lock\.json$/,
  },
  {
    rule: 'bare-typescript',
    pattern: /\bnode (-[\w-]+ )*[\w./-]+\.ts\b/,
    message: 'Node 20 runs no TypeScript: print node scripts/launch.mjs FILE.ts, or npm run',
  },
  {
    rule: 'only',
    pattern: /\b(describe|suite|it|test)\.only\b|\bonly: true\b/,
    message: 'a test left on "only"',
    paths: /^(packages\/[^/]+\/)?test\/.*\.ts$/,
  },
  {
    rule: 'invisible-character',
    pattern: /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/,
    message: 'an invisible or direction-changing character',
  },
  {
    rule: 'suppression-reason',
    pattern: /eslint-(disable|enable)(?!.* -- \S)|@ts-expect-error(?!.* -- \S)/,
    message: 'a suppression without its reason: end it with " -- why"',
    paths: codePaths,
  },
];

/** This module and its canary hold the patterns as text. */
const selfPaths = /^scripts\/(tidy\/text|checks\/canary-.*)\.ts$/;

function applyRule(file: TextFile, textRule: TextRule): Finding[] {
  if (textRule.paths !== undefined && !textRule.paths.test(file.path)) return [];
  const { rule, message } = textRule;
  return file.text.split('\n').flatMap((text, index) => {
    return textRule.pattern.test(text) ? [{ rule, path: file.path, line: index + 1, message }] : [];
  });
}

/** Finds text that must not be there. */
export function checkText(repository: Repository): Finding[] {
  return repository.files
    .filter((file) => !selfPaths.test(file.path))
    .flatMap((file) => textRules.flatMap((textRule) => applyRule(file, textRule)));
}

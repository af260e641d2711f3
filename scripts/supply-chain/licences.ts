/**
 * Licences: what may be shipped, and what may help to build.
 *
 * Permissive licences only, by their SPDX ids; of a choice (`A OR B`) one is enough, of a sum (`A AND B`) all count.
 * Exceptions name a package, its licence and why; one that no package needs any more is a finding. Judges what
 * packages say of themselves, not their files.
 */
import { judge, type Judgement } from './finding.ts';

/** A package and the licence that it states. */
export interface LicensedPackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly isRuntime: boolean;
}

/** A package that may have another licence. */
export interface LicenceException {
  readonly name: string;
  readonly licence: string;
  readonly reason: string;
}

const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PSF-2.0',
  'Unlicense',
]);

/** What is let in although its licence is not on the list; none of it is shipped. */
const LICENCE_EXCEPTIONS: readonly LicenceException[] = [
  {
    name: 'argparse',
    licence: 'Python-2.0',
    reason: 'permissive; parses the arguments of development tools',
  },
  {
    name: 'axe-core',
    licence: 'MPL-2.0',
    reason:
      'unchanged, in the browser suite alone: it judges the page for readers who cannot see it',
  },
  { name: 'caniuse-lite', licence: 'CC-BY-4.0', reason: 'data of the mutation tester’s compiler' },
];

/** True if the SPDX expression can be satisfied by allowed licences. */
export function isAllowedLicence(expression: string): boolean {
  const words = expression.replace(/[()]/g, ' ').trim();
  if (/ OR /.test(words)) return words.split(/ OR /).some((part) => isAllowedLicence(part));
  return words.split(/ AND /).every((part) => ALLOWED.has(part.trim()));
}

function isExcepted(each: LicensedPackage, exception: LicenceException): boolean {
  return !each.isRuntime && each.name === exception.name && each.licence === exception.licence;
}

/** Looks at the licences of all packages. */
export function checkLicences(
  packages: readonly LicensedPackage[],
  exceptions: readonly LicenceException[] = LICENCE_EXCEPTIONS,
): Judgement {
  const refused = packages.filter(
    (each) =>
      !isAllowedLicence(each.licence) &&
      !exceptions.some((exception) => isExcepted(each, exception)),
  );
  const stale = exceptions.filter(
    (exception) => !packages.some((each) => isExcepted(each, exception)),
  );
  const findings = [
    ...refused.map(({ name, version, licence, isRuntime }) => {
      const where = isRuntime ? 'is shipped' : 'helps to build';
      return `${name}@${version} ${where} under ${licence}`;
    }),
    ...stale.map(({ name, licence }) => `exception ${name} (${licence}): no package needs it`),
  ];
  const runtime = packages.filter(({ isRuntime }) => isRuntime).length;
  return judge(findings, `${packages.length} packages, ${runtime} of them shipped, all permissive`);
}

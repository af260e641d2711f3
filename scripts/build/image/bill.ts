/**
 * The bill of materials of an image, in CycloneDX 1.5: Node, Debian's packages, and the packages of npm that are bundled
 * into the watcher, each with the digest by which it is locked. It has no time and no number of its own.
 */
import { packageNameAt, type Lockfile } from '../../supply-chain/lockfile.ts';
import type { Locked } from './lock.ts';
import { DEBIAN, PLATFORMS, type Architecture } from './platforms.ts';

interface Component {
  readonly type: 'application' | 'library';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly licenses: readonly [
    { readonly license: { readonly id: string } } | { readonly expression: string },
  ];
  readonly purl: string;
  readonly hashes: readonly [{ readonly alg: 'SHA-256' | 'SHA-512'; readonly content: string }];
}

/** What a bill is made from. */
export interface BillSources {
  readonly architecture: Architecture;
  readonly version: string;
  /** Of the image's manifest. */
  readonly digest: string;
  readonly locked: readonly Locked[];
  readonly bundled: readonly Component[];
}

const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/** The bill of one architecture's image. */
export function billOf(sources: BillSources): object {
  const { architecture, version, digest, locked, bundled } = sources;
  const components = [...locked.map((one) => componentOf(one, architecture)), ...bundled];
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: {
        type: 'container',
        'bom-ref': digest,
        name: 'rollcall-watcher',
        version,
        hashes: [{ alg: 'SHA-256', content: digest.replace('sha256:', '') }],
      },
    },
    components: components.toSorted((left, right) => (left.purl < right.purl ? -1 : 1)),
  };
}

/** Where a package is found by others, in the notation of package URLs. */
export function packageUrl(
  { registry, name, version }: Locked,
  architecture: Architecture,
): string {
  const [id, release] = [name, version].map(encodeURIComponent);
  if (registry === 'npm') return `pkg:npm/${id ?? ''}@${release ?? ''}`;
  return `pkg:deb/debian/${id ?? ''}@${release ?? ''}?arch=${architecture}&distro=debian-${DEBIAN.number}`;
}

function componentOf(locked: Locked, architecture: Architecture): Component {
  const { registry, name, version, digest } = locked;
  const recipe = PLATFORMS[architecture].debian.find((one) => one.name === name);
  const purl = packageUrl(locked, architecture);
  return {
    type: registry === 'npm' ? 'application' : 'library',
    'bom-ref': purl,
    name,
    version,
    licenses: [licenceOf(recipe?.licence ?? 'MIT')],
    purl,
    hashes: [hashOf(digest)],
  };
}

/** The packages that files of a bundle are from, by the lockfile; our own have no entry of a registry there. */
export function bundledPackages(
  inputs: readonly string[],
  { packages }: Lockfile,
): readonly Component[] {
  const places = new Set(inputs.flatMap((input) => PACKAGE.exec(input)?.[1] ?? []));
  return [...places].sort().map((place) => {
    const { version, integrity, license } = packages[place] ?? {};
    if (version === undefined || integrity === undefined || license === undefined) {
      throw new Error(`the lockfile says too little of ${place}`);
    }
    const name = packageNameAt(place);
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
    const hex = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');
    return {
      type: 'library',
      'bom-ref': purl,
      name,
      version,
      licenses: [licenceOf(license)],
      purl,
      hashes: [hashOf(`sha512:${hex}`)],
    };
  });
}

function licenceOf(expression: string): Component['licenses'][0] {
  return /[ (]/.test(expression) ? { expression } : { license: { id: expression } };
}

function hashOf(digest: string): Component['hashes'][0] {
  const [algorithm, content = ''] = digest.split(':');
  return { alg: algorithm === 'sha512' ? 'SHA-512' : 'SHA-256', content };
}

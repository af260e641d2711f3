/**
 * What an image was built from, as an in-toto statement with SLSA's provenance (version 1). It is not signed: the workflow
 * that publishes a release signs one of its own, for the same digest.
 */
import type { Descriptor } from './layout.ts';
import { packageUrl } from './bill.ts';
import type { ImageLock } from './lock.ts';
import { ARCHITECTURES } from './platforms.ts';

/** The commit that was built. */
export interface Commit {
  readonly hash: string;
  /** The files are not those of the commit. */
  readonly isChanged: boolean;
}

/** What a statement says. */
export interface ProvenanceSources {
  readonly version: string;
  readonly index: Descriptor;
  readonly lock: ImageLock;
  /** Absent where the sources are no checkout. */
  readonly commit: Commit | undefined;
  /** Who built it, as a URI. */
  readonly builder: string;
}

/** The statement. */
export function provenanceOf(sources: ProvenanceSources): object {
  const { version, index, lock, commit, builder } = sources;
  const materials = new Map(
    ARCHITECTURES.flatMap((architecture) =>
      lock[architecture].map((locked) => {
        const [algorithm = '', hex = ''] = locked.digest.split(':');
        const uri = packageUrl(locked, architecture);
        return [uri, { uri, digest: { [algorithm]: hex } }] as const;
      }),
    ),
  );
  const repository =
    commit === undefined
      ? []
      : [
          {
            uri: 'git+urn:rollcall',
            digest: { gitCommit: commit.hash },
            annotations: { isChanged: commit.isChanged },
          },
        ];
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: 'rollcall-watcher', digest: { sha256: index.digest.replace('sha256:', '') } },
    ],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:rollcall:build-image:v1',
        externalParameters: { version, script: 'scripts/build/build-image.ts' },
        resolvedDependencies: [...repository, ...materials.values()],
      },
      runDetails: { builder: { id: builder } },
    },
  };
}

/**
 * Files of the package that commands read at run time: templates and manifests under infra/.
 *
 * The package begins at the nearest folder above with a package.json: the same unbuilt (src/cli/…) and bundled (dist/cli).
 */
import { existsSync } from 'node:fs';
import path from 'node:path';

/** Path of a file of the package, e.g. `infra/install.yaml`. Throws where there is no package around this module. */
export function packageFile(relativePath: string): string {
  let folder = import.meta.dirname;
  while (!existsSync(path.join(folder, 'package.json'))) {
    const above = path.dirname(folder);
    if (above === folder) throw new Error(`no package.json above ${import.meta.dirname}`);
    folder = above;
  }
  return path.join(folder, relativePath);
}

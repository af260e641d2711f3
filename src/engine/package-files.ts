/**
 * Files of the package that the engine and commands read at run time: serverless.yml, infra/ and examples/.
 *
 * The package begins at the nearest folder above with a package.json: the same unbuilt (src/…) and bundled (dist/cli).
 */
import { existsSync } from 'node:fs';
import path from 'node:path';

/** Path of a file of the package, e.g. `infra/watcher/deployment.yaml`. Throws where there is no package around this module. */
export function packageFile(relativePath: string): string {
  let folder = import.meta.dirname;
  while (!existsSync(path.join(folder, 'package.json'))) {
    const above = path.dirname(folder);
    if (above === folder) throw new Error(`no package.json above ${import.meta.dirname}`);
    folder = above;
  }
  return path.join(folder, relativePath);
}

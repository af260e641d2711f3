/**
 * Files of the package that commands read at run time: templates and manifests under infra/.
 *
 * src/cli and dist/cli are equally deep, so one relative path works unbuilt and bundled.
 */
import { fileURLToPath } from 'node:url';

/** Path of a file of the package, e.g. `infra/install.yaml`. */
export function packageFile(relativePath: string): string {
  return fileURLToPath(new URL(`../../${relativePath}`, import.meta.url));
}

// infra/install.yaml: the watcher's base as one plain file, for users without kustomize.
//
// The base holds nothing but resources, so the file is those files one after the other, comments included; should the
// base ever get a patch, this refuses, and the comparison with `kubectl kustomize` in test/conformance/manifests would
// fail. Needs neither kubectl nor a network. Writes nothing.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const BASE = 'infra/watcher';

/** Where the file stands in the repository. */
export const INSTALL_FILE = 'infra/install.yaml';

const HEADER = `# Everything that a cluster needs to run Rollcall's watcher, with its placeholders: fill in what stands in angle brackets and
# the image, give it AWS credentials (docs/install.md), then kubectl apply -f install.yaml.
# Made from ${BASE} by scripts/install/generate-install.ts: change it there.
`;

/** The text of infra/install.yaml as the base has it now. Throws if the base is more than a list of files. */
export function installManifest(root: string): string {
  const read = (name: string): string => readFileSync(path.join(root, BASE, name), 'utf8');
  const { apiVersion, kind, resources, ...rest } = parse(read('kustomization.yaml')) as Readonly<
    Record<string, unknown>
  >;
  const others = Object.keys(rest);
  if (others.length > 0 || !isTexts(resources) || kind !== 'Kustomization') {
    const what = `${String(apiVersion)} ${String(kind)} with ${others.join(', ')}`;
    throw new Error(`${BASE}/kustomization.yaml is more than a list of files: ${what}`);
  }
  return HEADER + resources.map((name) => `---\n${read(name)}`).join('');
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

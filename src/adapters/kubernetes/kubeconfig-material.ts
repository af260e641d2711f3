/**
 * Certificates, keys and tokens of a kubeconfig: inline as base64, or in a file beside it.
 *
 * Inline data wins, as in kubectl. Relative paths start at the kubeconfig's directory.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { refuseKubeconfig } from './kubeconfig-refusal.ts';
import type { KubeconfigRefusal } from './kubeconfig-refusal.ts';

/** Where material stands. */
export interface MaterialSource {
  /** base64 */
  readonly data?: string | undefined;
  readonly file?: string | undefined;
  /** Field name, for refusals. */
  readonly label: string;
  readonly directory: string;
}

/** Text of the material; undefined when neither place is given. */
export type Material = { readonly kind: 'material'; readonly text?: string } | KubeconfigRefusal;

const BASE64_PATTERN = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

/** Reads material from either place. */
export async function readMaterial(source: MaterialSource): Promise<Material> {
  const { data, file, label } = source;
  if (data !== undefined && data !== '') {
    if (!BASE64_PATTERN.test(data)) {
      return refuseKubeconfig('malformed', `${label}-data is not base64`);
    }
    return { kind: 'material', text: Buffer.from(data, 'base64').toString('utf8') };
  }
  if (file === undefined || file === '') return { kind: 'material' };
  try {
    return {
      kind: 'material',
      text: await readFile(path.resolve(source.directory, file), 'utf8'),
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return refuseKubeconfig(
      'file-unreadable',
      `cannot read the ${label} file ${file}: ${code ?? 'unknown error'}`,
    );
  }
}

/** What loading a kubeconfig came to, as one value: a test compares the whole of a refusal. */
import type { LoadedKubeconfig } from '../../src/adapters/kubeconfig/load-kubeconfig.ts';
import { KubeconfigRefused } from '../../src/adapters/kubeconfig/read-files.ts';

/** A kubeconfig, or why there is none. */
export type KubeconfigResult =
  | { readonly kind: 'loaded'; readonly kubeconfig: LoadedKubeconfig }
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly available?: readonly string[];
    };

/** Waits for it. Anything but a refusal is rejected as it is. */
export async function resultOf(loading: Promise<LoadedKubeconfig>): Promise<KubeconfigResult> {
  try {
    return { kind: 'loaded', kubeconfig: await loading };
  } catch (error) {
    if (!(error instanceof KubeconfigRefused)) throw error;
    const { code, message, available } = error;
    return { kind: 'refused', code, message, ...(available === undefined ? {} : { available }) };
  }
}

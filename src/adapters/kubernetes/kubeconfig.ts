/**
 * Kubeconfig loader (being written).
 */
import type { ClusterAuthentication } from '../../core/model/registration.ts';

/** A command that a user's kubeconfig names for getting a credential. */
export interface CredentialPlugin {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What to load. */
export interface KubeconfigOptions {
  /** Path of the kubeconfig file. */
  readonly path: string;
  /** Name of the context; default: the file's current-context. */
  readonly context?: string;
  /**
   * Runs a credential plugin and gives its standard output; given by the CLI only (execFile). Without
   * it a kubeconfig that names a plugin is refused: registry data can never execute code (S12).
   */
  readonly runPlugin?: (plugin: CredentialPlugin) => Promise<string>;
}

/** A context of a kubeconfig, resolved: everything needed to reach its cluster. */
export interface LoadedKubeconfig {
  readonly context: string;
  readonly clusterName: string;
  readonly server: string;
  readonly caPem?: string;
  /** `none`, `bearer` or `client-certificate`; never `eks`. */
  readonly authentication: ClusterAuthentication;
  /** True if the file asks to skip TLS verification. */
  readonly isInsecure: boolean;
}

/** Why a kubeconfig cannot be used. */
export type KubeconfigRefusalCode =
  | 'unreadable'
  | 'malformed'
  | 'context-missing'
  | 'cluster-missing'
  | 'user-missing'
  | 'server-invalid'
  | 'unsupported'
  | 'file-unreadable'
  | 'plugin-not-allowed'
  | 'plugin-failed';

/** Result of loading a kubeconfig. */
export type KubeconfigResult =
  | { readonly kind: 'loaded'; readonly kubeconfig: LoadedKubeconfig }
  | {
      readonly kind: 'refused';
      readonly code: KubeconfigRefusalCode;
      readonly message: string;
      /** For `context-missing`: the names that there are. */
      readonly available?: readonly string[];
    };

/** Reads a kubeconfig. */
export function loadKubeconfig(_options: KubeconfigOptions): Promise<KubeconfigResult> {
  throw new Error('not written yet');
}

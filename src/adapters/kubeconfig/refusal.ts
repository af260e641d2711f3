/**
 * Why a kubeconfig cannot be used: a closed list of codes, each with a sentence for a person.
 */

/** Codes of refusal. */
export type KubeconfigRefusalCode =
  | 'unreadable'
  | 'malformed'
  | 'context-missing'
  | 'cluster-missing'
  | 'user-missing'
  | 'server-invalid'
  | 'unsupported'
  | 'file-unreadable'
  | 'token-ended'
  | 'plugin-not-allowed'
  | 'plugin-failed';

/** A refusal. */
export interface KubeconfigRefusal {
  readonly kind: 'refused';
  readonly code: KubeconfigRefusalCode;
  /** What is wrong; never a credential. */
  readonly message: string;
  /** For `context-missing`: the contexts that there are. */
  readonly available?: readonly string[];
}

/** Makes a refusal. */
export function refuseKubeconfig(
  code: KubeconfigRefusalCode,
  message: string,
  available?: readonly string[],
): KubeconfigRefusal {
  return { kind: 'refused', code, message, ...(available === undefined ? {} : { available }) };
}

/**
 * Why a kubeconfig cannot be used: a closed list of codes, each with a sentence for a person that never has a credential.
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

/** Thrown while a kubeconfig is read: its message says what is wrong. */
export class KubeconfigRefused extends Error {
  override readonly name = 'KubeconfigRefused';
  readonly code: KubeconfigRefusalCode;
  /** For `context-missing`: the contexts that there are. */
  readonly available?: readonly string[];

  constructor(
    code: KubeconfigRefusalCode,
    message: string,
    more: { readonly available?: readonly string[]; readonly cause?: unknown } = {},
  ) {
    const { available, ...options } = more;
    super(message, options);
    this.code = code;
    if (available !== undefined) this.available = available;
  }
}

/**
 * Why a kubeconfig cannot be used: a closed list of codes, each with a sentence for a person that never has a credential.
 */

/** Codes of refusal. */
export type KubeconfigRefusalCode =
  /** The file cannot be read. */
  | 'unreadable'
  /** The file is no kubeconfig. */
  | 'malformed'
  /** It has no such context; the message names those that it has. */
  | 'context-missing'
  /** It lacks the cluster that the context names. */
  | 'cluster-missing'
  /** It lacks the user that the context names. */
  | 'user-missing'
  /** The server is no https address. */
  | 'server-invalid'
  /** It uses a field that Rollcall does not support; the message names it. */
  | 'unsupported'
  /** A file that it names cannot be read. */
  | 'file-unreadable'
  /** The token of its OIDC provider has ended. */
  | 'token-ended'
  /** It needs a plugin that may not run here. */
  | 'plugin-not-allowed'
  /** Its plugin failed. */
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

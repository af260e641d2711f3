/**
 * The last guard of S11: text on its way into a log line loses whatever has the form of a credential.
 *
 * The first guard is that nothing passes credentials to a log; this one catches what a foreign error
 * message or an echo brings along. It knows forms (PEM, JWT, EKS tokens, bearer headers, presigned
 * URLs, bootstrap tokens), names of fields, and the literal secrets it was given. An opaque token in
 * an innocent field of unknown text has no form: adapters keep those out of messages themselves.
 */

/** What stands in place of a secret. */
export const REDACTED = '[redacted]';

const SECRET_FORMS: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]+-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|$)/g,
  /\bk8s-aws-v1\.[A-Za-z0-9_-]+/g,
  // The first part is bounded: every `eyJ` inside a long one would be tried to its end.
  /\beyJ[A-Za-z0-9_-]{6,2048}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?/g,
  /\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  /\bX-Amz-(?:Signature|Security-Token|Credential)=[^&\s"']+/gi,
  /\b(?:token|password|secret|client[-_]key(?:-data)?)["']?\s*[:=]\s*["']?[^\s"',}]{8,}/gi,
  /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g,
];

/** Names of fields whose value is never shown, whatever it looks like. */
const SECRET_NAME = /token|secret|password|authorization|credential|privatekey|keypem|certificate/i;

/** Short literals would cut innocent words. */
const LITERAL_LENGTH_MIN = 8;

/** Takes secrets out of text. */
export interface Redactor {
  /** The text without what looks like, or is, a secret. */
  text(value: string): string;
  /** True if a field of this name may not be shown at all. */
  isSecretName(name: string): boolean;
}

/** A redactor for known forms, and for these literal secrets. */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const literals = secrets.filter((secret) => secret.length >= LITERAL_LENGTH_MIN);
  return {
    isSecretName: (name) => SECRET_NAME.test(name),
    text: (value) => {
      const withoutLiterals = literals.reduce(
        (text, secret) => text.replaceAll(secret, REDACTED),
        value,
      );
      return SECRET_FORMS.reduce((text, form) => text.replace(form, REDACTED), withoutLiterals);
    },
  };
}

/**
 * The shape of a kubeconfig file, as far as it is understood.
 *
 * The outer file is open (kubectl keeps preferences and extensions there); clusters and users are
 * closed: a field that would change where or as whom we connect must not be passed over.
 */
import * as v from 'valibot';

const text = v.string();
const optionalText = v.optional(text);

/** The file: names first; each cluster and user is judged when it is used. */
export const kubeconfigSchema = v.looseObject({
  'current-context': optionalText,
  contexts: v.optional(
    v.array(
      v.looseObject({ name: text, context: v.looseObject({ cluster: text, user: optionalText }) }),
    ),
    [],
  ),
  clusters: v.optional(v.array(v.looseObject({ name: text, cluster: v.unknown() })), []),
  users: v.optional(v.array(v.looseObject({ name: text, user: v.unknown() })), []),
});

/** A parsed kubeconfig file. */
export type KubeconfigFile = v.InferOutput<typeof kubeconfigSchema>;

/** A cluster entry. Not supported: proxy-url, tls-server-name. */
export const clusterSchema = v.strictObject({
  server: text,
  'certificate-authority': optionalText,
  'certificate-authority-data': optionalText,
  'insecure-skip-tls-verify': v.optional(v.boolean()),
  'disable-compression': v.optional(v.boolean()),
  extensions: v.optional(v.unknown()),
});

/** A user entry. Not supported: basic authentication, auth-provider, impersonation. */
export const userSchema = v.strictObject({
  token: optionalText,
  tokenFile: optionalText,
  'client-certificate': optionalText,
  'client-certificate-data': optionalText,
  'client-key': optionalText,
  'client-key-data': optionalText,
  exec: v.optional(
    v.looseObject({
      apiVersion: text,
      command: text,
      args: v.optional(v.nullable(v.array(text))),
      env: v.optional(v.nullable(v.array(v.object({ name: text, value: text })))),
      interactiveMode: optionalText,
      provideClusterInfo: v.optional(v.boolean()),
    }),
  ),
  extensions: v.optional(v.unknown()),
});

/** A parsed user entry. */
export type KubeconfigUser = v.InferOutput<typeof userSchema>;

/** What a credential plugin prints (client.authentication.k8s.io). */
export const execCredentialSchema = v.looseObject({
  kind: v.literal('ExecCredential'),
  status: v.looseObject({
    token: optionalText,
    clientCertificateData: optionalText,
    clientKeyData: optionalText,
    expirationTimestamp: optionalText,
  }),
});

/**
 * The shape of a kubeconfig file, as far as it is understood.
 *
 * The outer file is open (kubectl keeps preferences and extensions there); clusters and users are
 * closed: client-node passes over a field that it does not know, and a field that would change where
 * or as whom we connect must not be passed over.
 */
import * as v from 'valibot';

const text = v.string();
const optionalText = v.optional(text);
/** client-node decodes whatever it is given. */
const optionalBase64 = v.optional(v.pipe(text, v.regex(/^[A-Za-z0-9+/=\s]*$/, 'is not base64')));
const PROXY_PATTERN = /^(https?|socks[45]?|socks4a|socks5h):\/\/./;
const proxyUrl = v.pipe(text, v.regex(PROXY_PATTERN), v.url());

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

export type KubeconfigFile = v.InferOutput<typeof kubeconfigSchema>;

/** A cluster entry, of whoever connects straight to the server that it names. */
export const clusterSchema = v.strictObject({
  server: text,
  'certificate-authority': optionalText,
  'certificate-authority-data': optionalBase64,
  'insecure-skip-tls-verify': v.optional(v.boolean()),
  'disable-compression': v.optional(v.boolean()),
  extensions: v.optional(v.unknown()),
});

/** A cluster entry, of whoever connects by the agent that is made of it. */
export const clusterWithDetourSchema = v.strictObject({
  ...clusterSchema.entries,
  'proxy-url': v.optional(proxyUrl),
  'tls-server-name': optionalText,
});

export type KubeconfigCluster = v.InferOutput<typeof clusterWithDetourSchema>;

/** A user entry. Not supported: basic authentication, other auth-providers, impersonation. */
export const userSchema = v.strictObject({
  token: optionalText,
  tokenFile: optionalText,
  'client-certificate': optionalText,
  'client-certificate-data': optionalBase64,
  'client-key': optionalText,
  'client-key-data': optionalBase64,
  'auth-provider': v.optional(
    v.strictObject({
      // Those of Azure and Google run programs, and kubectl has dropped them.
      name: v.literal('oidc'),
      config: v.optional(v.nullable(v.looseObject({ 'id-token': optionalText })), {}),
    }),
  ),
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

/**
 * Admission plug-in ServiceAccount: every pod runs under an account that exists, and its containers find a token, the
 * cluster's certificate authority and their namespace under one path.
 *
 * Differs from Kubernetes: the annotation that limits mountable secrets is not honoured.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../../objects/api-object.ts';
import { mirrorServiceAccount } from '../../pod-spec/defaults/defaults.ts';
import type { Refusal, RuleContext } from '../../shared/resource.ts';
import { editItemsAt, listAt, objectAt, textAt, withMember } from '../../shared/json-edit.ts';
import { podForbidden } from './forbidden.ts';

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME_PREFIX = 'kube-api-access-';
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

const TOKEN_SOURCE = {
  defaultMode: 420,
  sources: [
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }], name: 'kube-root-ca.crt' } },
    {
      downwardAPI: {
        items: [
          { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' }, path: 'namespace' },
        ],
      },
    },
  ],
};

/** The pod under its account, or why not. */
export function admitServiceAccount(pod: ApiObject, context: RuleContext): ApiObject | Refusal {
  const spec = objectAt(pod, 'spec');
  const asked = textAt(spec, 'serviceAccountName');
  if (objectAt(pod.metadata, 'annotations')[MIRROR_ANNOTATION] !== undefined) {
    if (asked === '') return pod;
    return podForbidden(pod, 'a mirror pod may not reference service accounts');
  }
  const name = asked === '' ? 'default' : asked;
  const namespace = textAt(pod.metadata, 'namespace');
  const account = context.read({ resource: 'serviceaccounts', namespace, name });
  if (account === undefined) {
    return podForbidden(
      pod,
      `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
    );
  }
  let admitted = mirrorServiceAccount({ ...spec, serviceAccountName: name });
  if (automounts(spec, account)) admitted = mountToken(admitted, context);
  return withMember(pod, 'spec', withPullSecrets(admitted, account));
}

function automounts(spec: JsonObject, account: ApiObject): boolean {
  const own = spec['automountServiceAccountToken'];
  if (typeof own === 'boolean') return own;
  return account['automountServiceAccountToken'] !== false;
}

function withPullSecrets(spec: JsonObject, account: ApiObject): JsonObject {
  const secrets = listAt(account, 'imagePullSecrets');
  if (secrets.length === 0 || listAt(spec, 'imagePullSecrets').length > 0) return spec;
  return { ...spec, imagePullSecrets: secrets.map((it) => ({ name: textAt(it, 'name') })) };
}

function mountToken(spec: JsonObject, context: RuleContext): JsonObject {
  const volumes = listAt(spec, 'volumes');
  const existing = volumes
    .map((it) => textAt(it, 'name'))
    .find((it) => it.startsWith(VOLUME_PREFIX));
  const name = existing ?? `${VOLUME_PREFIX}${suffixFrom(context.uniqueId())}`;
  const mount = { mountPath: MOUNT_PATH, name, readOnly: true };
  const withMount = (container: JsonObject): JsonObject => {
    const mounts = listAt(container, 'volumeMounts');
    if (mounts.some((it) => textAt(it, 'mountPath') === MOUNT_PATH)) return container;
    return { ...container, volumeMounts: [...mounts, mount] };
  };
  const mounted = editItemsAt(
    editItemsAt(spec, 'initContainers', withMount),
    'containers',
    withMount,
  );
  // A pod whose containers all mount something else there needs no token.
  if (mounted === spec || existing !== undefined) return mounted;
  return { ...mounted, volumes: [...volumes, { name, projected: TOKEN_SOURCE }] };
}

/** Five letters of the alphabet that generated names are made of. */
function suffixFrom(uniqueId: string): string {
  const letters = [...uniqueId.slice(0, 5)].map((letter) => {
    const index = Number.parseInt(letter, 36) % SUFFIX_ALPHABET.length;
    return SUFFIX_ALPHABET.charAt(Number.isNaN(index) ? 0 : index);
  });
  return letters.join('');
}

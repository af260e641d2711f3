/**
 * Attacks on the admission policy by whoever holds Rollcall's credential: each was created (201) while the policy compared
 * what it named, and let pass what it did not name (B.1). The policy now lets pass what it names.
 *
 * They are changes of a pod of wide-daemon-set.ts. The first are the attack that was shown, in its variants; the others
 * were found by walking the schema of a pod (pod-variants.ts does so again in each run).
 */
import type { DraftPod, Tampering } from './wide-daemon-set.ts';

const SCRIPT = '#!/bin/sh\nexec /host/evil\n';

/** Code in an annotation, made a file by the downward API, mounted where something runs it. */
function planted(
  mount: Record<string, unknown>,
  source: Record<string, unknown> = {},
): (pod: DraftPod) => void {
  return (pod) => {
    pod.metadata.annotations['example.com/code'] = SCRIPT;
    const fieldRef = { fieldPath: "metadata.annotations['example.com/code']" };
    const downwardAPI = { items: [{ path: 'agent', fieldRef, mode: 0o755 }] };
    pod.spec.volumes.push({
      name: 'kube-api-access-x',
      projected: { defaultMode: 0o755, sources: [{ downwardAPI }], ...source },
    });
    mountInto(pod, { name: 'kube-api-access-x', ...mount });
  };
}

const TOKEN = { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } };
const ROOT = {
  configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] },
};
const NAMESPACE = {
  downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] },
};

/** The volume that Kubernetes injects, with one thing changed, where Kubernetes mounts it. */
function token(
  sources: readonly unknown[],
  change: Record<string, unknown> = {},
  mount: Record<string, unknown> = {},
): (pod: DraftPod) => void {
  return (pod) => {
    const projected = { defaultMode: 0o644, sources, ...change };
    pod.spec.volumes.push({ name: 'kube-api-access-x', projected });
    const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
    mountInto(pod, { name: 'kube-api-access-x', mountPath, readOnly: true, ...mount });
  };
}

function mountInto(pod: DraftPod, mount: Record<string, unknown>): void {
  (pod.spec.containers[0]?.['volumeMounts'] as unknown[]).push(mount);
}

function annotation(name: string, value: string): (pod: DraftPod) => void {
  return (pod) => (pod.metadata.annotations[name] = value);
}

function variable(name: string, value: string): (pod: DraftPod) => void {
  return (pod) => (pod.spec.containers[0]?.['env'] as unknown[]).push({ name, value });
}

function spec(change: Record<string, unknown>): (pod: DraftPod) => void {
  return (pod) => void Object.assign(pod.spec, change);
}

function container(change: Record<string, unknown>): (pod: DraftPod) => void {
  return (pod) => void Object.assign(pod.spec.containers[0] ?? {}, change);
}

const PLANTED: readonly Tampering[] = [
  {
    what: 'an entrypoint replaced by an annotation, past the prefix of its path',
    refusal: /annotations differ|volumes differ/,
    change: planted({ mountPath: '/var/run/secrets/../../../usr/bin/agent', subPath: 'agent' }),
  },
  {
    what: 'the same by subPathExpr',
    refusal: /annotations differ|volumes differ/,
    change: planted({ mountPath: '/var/run/secrets/../../../agent', subPathExpr: 'agent' }),
  },
  {
    what: 'code beside the token',
    refusal: /annotations differ|volumes differ/,
    change: planted({ mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }),
  },
  {
    what: 'a library of tokens, with code among them',
    refusal: /annotations differ|volumes differ/,
    change: planted({ mountPath: '/var/run/secrets/../lib' }, { sources: [TOKEN, NAMESPACE] }),
  },
  {
    what: 'a label as a file',
    refusal: /labels differ|volumes differ/,
    change: (pod) => {
      pod.metadata.labels['code'] = 'evil';
      const fieldRef = { fieldPath: "metadata.labels['code']" };
      const projected = { sources: [{ downwardAPI: { items: [{ path: 'agent', fieldRef }] } }] };
      pod.spec.volumes.push({ name: 'p', projected });
      mountInto(pod, { name: 'p', mountPath: '/var/run/secrets/../../config/agent' });
    },
  },
];

const TOKENS: readonly Tampering[] = [
  {
    what: 'a token mounted over what the container reads',
    refusal: /volumeMounts differ/,
    change: token([TOKEN, ROOT, NAMESPACE], {}, { mountPath: '/var/run/secrets/../../../etc' }),
  },
  {
    what: 'a token under another name below the prefix',
    refusal: /volumeMounts differ/,
    change: token([TOKEN, ROOT, NAMESPACE], {}, { mountPath: '/var/run/secrets/vault' }),
  },
  {
    what: 'a file of the token alone',
    refusal: /volumeMounts differ/,
    change: token([TOKEN, ROOT, NAMESPACE], {}, { subPath: 'token' }),
  },
  {
    what: 'a token that may be written',
    refusal: /volumeMounts differ/,
    change: token([TOKEN, ROOT, NAMESPACE], {}, { readOnly: false }),
  },
  {
    what: 'a token for somebody else',
    refusal: /volumes differ/,
    change: token([{ serviceAccountToken: { path: 'token', audience: 'vault' } }]),
  },
  {
    what: 'tokens that may be executed',
    refusal: /volumes differ/,
    change: token([TOKEN, ROOT, NAMESPACE], { defaultMode: 0o755 }),
  },
  {
    what: 'an authority under another name',
    refusal: /volumes differ/,
    change: token([
      TOKEN,
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'x' }] } },
      NAMESPACE,
    ]),
  },
];

const METADATA: readonly Tampering[] = [
  {
    what: 'a network by annotation',
    refusal: /annotations differ/,
    change: annotation('k8s.v1.cni.cncf.io/networks', 'kube-system/host'),
  },
  {
    what: 'an image for an injector by annotation',
    refusal: /annotations differ/,
    change: annotation('sidecar.istio.io/proxyImage', 'registry.example/evil:1'),
  },
  {
    what: 'another value of the template’s annotation',
    refusal: /annotations differ/,
    change: annotation('example.com/note', 'changed'),
  },
  {
    what: 'an annotation of the template taken away, as an AppArmor profile would be',
    refusal: /annotations differ/,
    change: (pod) => delete pod.metadata.annotations['example.com/note'],
  },
  {
    what: 'a label by which a Service finds it',
    refusal: /labels differ/,
    change: (pod) => (pod.metadata.labels['payments'] = 'yes'),
  },
];

const SPEC: readonly Tampering[] = [
  {
    what: 'anti-affinity against everybody else',
    refusal: /affinity differs/,
    change: (pod) => {
      const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: {} };
      Object.assign(pod.spec.affinity, {
        podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
      });
    },
  },
  {
    what: 'a place among nodes that the template does not prefer',
    refusal: /affinity differs/,
    change: (pod) =>
      (pod.spec.affinity.nodeAffinity['preferredDuringSchedulingIgnoredDuringExecution'] = []),
  },
  {
    what: 'a toleration of everything',
    refusal: /tolerations differ/,
    change: (pod) => (pod.spec['tolerations'] as unknown[]).push({ operator: 'Exists' }),
  },
  {
    what: 'nodes that the template leaves out',
    refusal: /nodeSelector differs/,
    change: (pod) => delete pod.spec['nodeSelector'],
  },
  {
    what: 'a spread that nothing satisfies',
    refusal: /topologySpreadConstraints differ/,
    change: spec({
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'none', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    }),
  },
  {
    what: 'no variables of Services',
    refusal: /enableServiceLinks differs/,
    change: spec({ enableServiceLinks: false }),
  },
  {
    what: 'init containers in another order',
    refusal: /initContainers differ/,
    change: (pod) => pod.spec.initContainers.reverse(),
  },
];

const CONTAINERS: readonly Tampering[] = [
  {
    what: 'an image that is never pulled anew',
    refusal: /imagePullPolicy differs/,
    change: container({ imagePullPolicy: 'Never' }),
  },
  {
    what: 'a device of the node',
    refusal: /resources differ/,
    change: container({ resources: { limits: { 'devices.example/kvm': 1 } } }),
  },
  {
    what: 'an identity in another account',
    refusal: /environment differs/,
    change: variable('AWS_ROLE_ARN', 'arn:aws:iam::999999999999:role/collects-logs'),
  },
  {
    what: 'a file of the host as a token',
    refusal: /environment differs/,
    change: variable('AWS_WEB_IDENTITY_TOKEN_FILE', '/host/etc/shadow'),
  },
  {
    what: 'a region that is an address',
    refusal: /environment differs/,
    change: variable('AWS_REGION', 'x.evil.example/#'),
  },
  {
    what: 'the environment in another order',
    refusal: /environment differs/,
    change: (pod) => void (pod.spec.containers[0]?.['env'] as unknown[]).reverse(),
  },
];

/** All of them; one test each. */
export const POD_ATTACKS: readonly Tampering[] = [
  ...PLANTED,
  ...TOKENS,
  ...METADATA,
  ...SPEC,
  ...CONTAINERS,
];

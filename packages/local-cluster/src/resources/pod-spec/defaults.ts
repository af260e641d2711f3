/**
 * Defaults of a pod's spec, wherever it stands: in a pod or in a template. A spec that has them all comes back as the very
 * same object: a template is defaulted on every write, and an unstable default would raise its generation.
 *
 * Differs from Kubernetes: amounts finer than thousandths are not rounded up; the deprecated network disks (iSCSI, RBD, Azure,
 * ScaleIO) and requests of whole pods get no defaults.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  editItemsAt,
  editObjectAt,
  isPresent,
  textAt,
  withDefaults,
  withMember,
} from '../shared/json-edit.ts';

const SPEC_DEFAULTS = {
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  schedulerName: 'default-scheduler',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
};
const CONTAINER_DEFAULTS = {
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  resources: {},
};
const PROBE_DEFAULTS = {
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
};
const FILE_DEFAULTS = { defaultMode: 420 };

/** Defaults that pods and templates share. */
export function applyPodSpecDefaults(spec: JsonObject): JsonObject {
  let result = mirrorServiceAccount(withDefaults(spec, SPEC_DEFAULTS));
  result = editItemsAt(result, 'volumes', withVolumeDefaults);
  result = editItemsAt(result, 'initContainers', withContainerDefaults);
  return editItemsAt(result, 'containers', withContainerDefaults);
}

/** `serviceAccount` is the old name of `serviceAccountName`; both are shown, the new one wins. */
export function mirrorServiceAccount(spec: JsonObject): JsonObject {
  const name = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  if (name === '') return spec;
  return withMember(withMember(spec, 'serviceAccountName', name), 'serviceAccount', name);
}

function withContainerDefaults(container: JsonObject): JsonObject {
  let result = withDefaults(container, CONTAINER_DEFAULTS);
  if (!isPresent(result, 'imagePullPolicy')) {
    result = { ...result, imagePullPolicy: pullPolicyOf(textAt(result, 'image')) };
  }
  result = editItemsAt(result, 'ports', (port) => withDefaults(port, { protocol: 'TCP' }));
  result = editItemsAt(result, 'env', (variable) =>
    editObjectAt(variable, 'valueFrom', withReferenceDefaults),
  );
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    result = editObjectAt(result, probe, withProbeDefaults);
  }
  return editObjectAt(result, 'lifecycle', (lifecycle) =>
    editObjectAt(
      editObjectAt(lifecycle, 'postStart', withHttpDefaults),
      'preStop',
      withHttpDefaults,
    ),
  );
}

/** Always for the tag `latest`, said or not; a stored policy stays when a patch changes the image. */
function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  if (image.includes('@')) return 'IfNotPresent';
  const [, tag = 'latest'] = (image.split('/').at(-1) ?? '').split(':');
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function withProbeDefaults(probe: JsonObject): JsonObject {
  return withHttpDefaults(
    editObjectAt(withDefaults(probe, PROBE_DEFAULTS), 'grpc', (it) =>
      withDefaults(it, { service: '' }),
    ),
  );
}

function withHttpDefaults(handler: JsonObject): JsonObject {
  return editObjectAt(handler, 'httpGet', (it) => withDefaults(it, { path: '/', scheme: 'HTTP' }));
}

function withVolumeDefaults(volume: JsonObject): JsonObject {
  let result = volume;
  let hasSource = false;
  for (const source in volume) {
    if (source === 'name' || !isPresent(volume, source)) continue;
    hasSource = true;
    const edit = VOLUME_SOURCES[source];
    if (edit !== undefined) result = editObjectAt(result, source, edit);
  }
  return hasSource ? result : { ...volume, emptyDir: {} };
}

const VOLUME_SOURCES: Readonly<Record<string, (source: JsonObject) => JsonObject>> = {
  configMap: (source) => withDefaults(source, FILE_DEFAULTS),
  secret: (source) => withDefaults(source, FILE_DEFAULTS),
  hostPath: (source) => withDefaults(source, { type: '' }),
  downwardAPI: (source) => withFilesDefaults(withDefaults(source, FILE_DEFAULTS)),
  projected: (source) =>
    editItemsAt(withDefaults(source, FILE_DEFAULTS), 'sources', (projection) =>
      editObjectAt(
        editObjectAt(projection, 'downwardAPI', withFilesDefaults),
        'serviceAccountToken',
        (token) => withDefaults(token, { expirationSeconds: 3600 }),
      ),
    ),
  image: (source) =>
    withDefaults(source, { pullPolicy: pullPolicyOf(textAt(source, 'reference')) }),
  ephemeral: (source) =>
    editObjectAt(source, 'volumeClaimTemplate', (template) =>
      editObjectAt(template, 'spec', (spec) => withDefaults(spec, { volumeMode: 'Filesystem' })),
    ),
};

function withFilesDefaults(source: JsonObject): JsonObject {
  return editItemsAt(source, 'items', withReferenceDefaults);
}

function withReferenceDefaults(holder: JsonObject): JsonObject {
  const withField = editObjectAt(holder, 'fieldRef', (it) =>
    withDefaults(it, { apiVersion: 'v1' }),
  );
  return editObjectAt(withField, 'resourceFieldRef', (it) => withDefaults(it, { divisor: '0' }));
}

/**
 * What a Service is given, so that tools that wait for its address go on: type, affinity, protocols, and a cluster IP.
 *
 * Differs from Kubernetes: the address follows from namespace and name, so two Services may share one, and nothing answers
 * there; no node ports.
 */
import { createHash } from 'node:crypto';
import type { ApiObject } from '../../objects/api-object.ts';
import { editItemsAt, editObjectAt, textAt, withDefaults } from '../shared/json-edit.ts';

/** The Service with its defaults. */
export function applyServiceDefaults(service: ApiObject): ApiObject {
  return editObjectAt(service, 'spec', (given) => {
    const spec = withDefaults(given, { sessionAffinity: 'None', type: 'ClusterIP' });
    const ports = editItemsAt(spec, 'ports', (port) => ({
      ...withDefaults(port, { protocol: 'TCP' }),
      // Decoding writes the absent one as zero.
      targetPort: port['targetPort'] === 0 ? (port['port'] ?? 0) : (port['targetPort'] ?? 0),
    }));
    if (textAt(spec, 'type') === 'ExternalName') return ports;
    const { clusterIP } = withDefaults(ports, { clusterIP: addressOf(service) });
    return withDefaults(ports, {
      clusterIP,
      clusterIPs: [clusterIP ?? ''],
      internalTrafficPolicy: 'Cluster',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    });
  });
}

/** In 10.96.0.0/12, as clusters have it by default. */
function addressOf({ metadata }: ApiObject): string {
  const digest = createHash('sha256')
    .update(`${metadata.namespace ?? ''}/${metadata.name}`)
    .digest();
  const [first = 0, second = 0, third = 0] = digest;
  return `10.${String(96 + (first % 16))}.${String(second)}.${String(1 + (third % 254))}`;
}

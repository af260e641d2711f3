/** The node as the kubelet's events name it: its name stands for its UID, and no version. */
import type { ApiObject } from '../../objects/api-object.ts';

/** What an event about a node is about. */
export function nodeReference(name: string): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: name, resourceVersion: '', creationTimestamp: '' },
  };
}

/**
 * Static pods: those whose manifests lie in a directory of the machine (spec node-agent 1).
 *
 * A manifest becomes a pod of this node: its name gets the node's as a suffix, its UID is a hash of node and content, so
 * that a changed file is another pod. Assumes manifests that are valid pods; defaults are those of the pod's fields that
 * the agent reads.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { canonicalJson, isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { hash48 } from '@rollcall/base/hash48.ts';
import type { Metadata } from '../../objects/api-object.ts';
import {
  CONFIG_HASH_ANNOTATION,
  CONFIG_SOURCE_ANNOTATION,
  podName,
  uidOf,
} from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import type { StaticPodFiles } from '../shared/settings.ts';
import type { PodConfig } from './config.ts';

/** Feeds the channel from the machine's manifests until stopped. */
export function startStaticSource(options: {
  readonly files: StaticPodFiles;
  readonly nodeName: string;
  readonly config: PodConfig;
  readonly log: Log;
  readonly nowText: () => string;
}): Cancel {
  const { files, nodeName, config, log } = options;
  const held = new Set<string>();
  const look = (): void => {
    const pods = files.list().map((manifest) => staticPod(manifest, nodeName, options.nowText()));
    const uids = new Set(pods.map(uidOf));
    for (const uid of [...held]) {
      if (uids.has(uid)) continue;
      held.delete(uid);
      config.drop('file', uid);
    }
    for (const pod of pods) {
      if (held.has(uidOf(pod))) continue;
      held.add(uidOf(pod));
      log.debug('receive', { source: 'file', type: 'ADDED', pod: podName(pod) });
      config.put('file', pod);
    }
  };
  look();
  return files.onChange(look);
}

function staticPod(manifest: JsonObject, nodeName: string, nowText: string): PodObject {
  const given = isJsonObject(manifest['metadata']) ? manifest['metadata'] : {};
  const givenAnnotations = isJsonObject(given['annotations']) ? given['annotations'] : {};
  const hash = `${hex(`${nodeName}\n${canonicalJson(manifest)}`)}${hex(canonicalJson(manifest))}`;
  const metadata = {
    ...given,
    name: `${textOf(given['name'], 'static')}-${nodeName}`,
    namespace: textOf(given['namespace'], 'default'),
    uid: hash,
    resourceVersion: '',
    creationTimestamp: nowText,
    annotations: {
      ...givenAnnotations,
      [CONFIG_HASH_ANNOTATION]: hash,
      [CONFIG_SOURCE_ANNOTATION]: 'file',
    },
  } as Metadata;
  const spec = isJsonObject(manifest['spec']) ? manifest['spec'] : {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      containers: [],
      ...spec,
      nodeName,
      // A static pod tolerates whatever would evict it, as the kubelet makes it.
      tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
    },
  };
}

function textOf(value: Json | undefined, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}

function hex(text: string): string {
  return hash48(text).toString(16).padStart(12, '0');
}

/** Pods of the API that are bound to this node, over all namespaces, by list and watch (spec node-agent 1). */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { LocalClient } from '../../client/local-client.ts';
import { podName, uidOf } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import type { PodConfig } from './config.ts';

/** Feeds the channel from the API until stopped. */
export function startApiSource(options: {
  readonly client: LocalClient;
  readonly nodeName: string;
  readonly config: PodConfig;
  readonly log: Log;
}): Cancel {
  const { client, nodeName, config, log } = options;
  const observation = client.observe(
    { resource: 'pods', fieldSelector: `spec.nodeName=${nodeName}` },
    ({ type, object, previous }) => {
      const pod = object as PodObject;
      log.debug('receive', { source: 'api', type, pod: podName(pod) });
      // A pod of the same name may have come in between.
      if (previous !== undefined && uidOf(previous) !== uidOf(pod)) {
        config.drop('api', uidOf(previous));
      }
      if (type === 'DELETED') config.drop('api', uidOf(pod));
      else config.put('api', pod);
    },
  );
  return () => {
    observation.stop();
  };
}

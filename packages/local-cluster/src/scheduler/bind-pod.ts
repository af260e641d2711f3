/** Binds a pod to a node through POST pods/NAME/binding; the UID keeps a namesake from being bound. */
import type { LocalClient } from '../client/local-client.ts';
import type { ApiObject } from '../objects/api-object.ts';

/** How it ended. */
export type BindingResult =
  | { readonly kind: 'bound' }
  /** The pod is gone, another one, or bound already: nothing is left to do. */
  | { readonly kind: 'moot' }
  | { readonly kind: 'refused'; readonly message: string };

/** Binds. */
export async function bindPod(
  client: LocalClient,
  of: { readonly pod: ApiObject; readonly nodeName: string },
): Promise<BindingResult> {
  const { namespace = '', name, uid } = of.pod.metadata;
  const outcome = await client.act({ resource: 'pods', namespace, name }, 'binding', {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { namespace, name, uid },
    target: { kind: 'Node', name: of.nodeName },
  });
  if (outcome.kind === 'ok') return { kind: 'bound' };
  const { code, message = 'no reason given' } = outcome.status;
  return code === 404 || code === 409 ? { kind: 'moot' } : { kind: 'refused', message };
}

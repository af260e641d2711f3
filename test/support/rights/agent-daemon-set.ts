/** The DaemonSet of the clusters in a function world: as its watcher reports it, and as its API server has it by now. */
import assert from 'node:assert/strict';
import { daemonSetOf } from '../scripted-sender.ts';

/** A DaemonSet as an API server gives it. */
export function agentDaemonSet(): ReturnType<typeof daemonSetOf> {
  const { object, sets } = daemonSetOf('agent');
  assert.ok(object.kind === 'DaemonSet');
  const labels = { app: 'agent' };
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: 'agent', image: 'registry.example/agent:1' }] },
  };
  const spec = { selector: { matchLabels: labels }, template };
  return { object: { ...object, object: { ...object.object, spec } }, sets };
}

/** As its API server gives it. */
export function liveDaemonSet(): object {
  const { object } = agentDaemonSet();
  assert.ok(object.kind === 'DaemonSet');
  return object.object;
}

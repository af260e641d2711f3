/**
 * A name for what a FleetDaemonSet gives clusters: its manifest and its overrides, whatever their keys' order.
 *
 * Strategy and placement are not in it, nor are names of overrides: with them alone changed, what was proven stays proven, and what was
 * halted stays refused. It names content, not a template: two clusters may be given different templates of one content.
 */
import { canonicalJson } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import { nameHash } from '../pod/naming.ts';
import type { FleetDaemonSet } from './fleet-daemon-set.ts';

/** Ten letters. Where they are equal, each cluster would be rendered alike, but for the policy that the strategy adds. */
export function fleetContentHash({
  manifest,
  overrides,
}: Pick<FleetDaemonSet, 'manifest' | 'overrides'>): string {
  const rendered = overrides.map(({ name: _forMessages, ...rest }) => rest);
  // Of JSON: it was read from a document.
  const content = { manifest, overrides: rendered as unknown as Json };
  return nameHash(`fleet content\n${canonicalJson(content)}`);
}

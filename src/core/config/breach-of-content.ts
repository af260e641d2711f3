/**
 * What a halt says where content alone is new (ADR 0061): which objects, and that Rollcall cannot take it back.
 */
import type { Breach, ConfigIdentity, RolloutRecord } from '../model/rollout-record.ts';
import { isSameTemplate } from '../pod/revision.ts';
import { namesText } from './references.ts';

/** The breach, with whose content changed if the template did not. */
export function withContent(
  breach: Breach,
  { hash, former }: Pick<RolloutRecord, 'hash' | 'former'>,
  config: ConfigIdentity | undefined,
): Breach {
  const changed = config?.changed;
  if (changed === undefined || former === undefined || !isSameTemplate(former.hash, hash)) {
    return breach;
  }
  const message = `${breach.message}; what is new is the content of ${namesText(changed.objects)}, which its owner has to restore: pods that are not restarted keep what they loaded`;
  return { ...breach, message };
}

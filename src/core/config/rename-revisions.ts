/**
 * The record of a rollout whose revisions get another word for what they are already (ADR 0061).
 *
 * Turning content on or off, or another key, changes no pod and no content: it must begin no rollout and forget no verdict.
 * So the revision that is rolled out keeps its record, and what is named as it is renamed with it.
 */
import type { RolloutRecord } from '../model/rollout-record.ts';
import { templateOfRevision } from '../pod/revision.ts';

/** With every revision of one name under another one. */
export function renameRevision(record: RolloutRecord, from: string, to: string): RolloutRecord {
  return from === to ? record : rename(record, (revision) => (revision === from ? to : revision));
}

/** With every revision named by its template alone. What was halted for its content says nothing of a template. */
export function withoutContent(record: RolloutRecord): RolloutRecord {
  const { config: _dropped, ...rest } = record;
  const refused = record.refused.filter(({ hash }) => hash === templateOfRevision(hash));
  return rename({ ...rest, refused }, templateOfRevision);
}

function rename(record: RolloutRecord, renamed: (revision: string) => string): RolloutRecord {
  const { proven, former, orders } = record;
  const { undo } = orders;
  const hash = renamed(record.hash);
  const back = former === undefined ? undefined : { ...former, hash: renamed(former.hash) };
  const { former: _former, ...rest } = record;
  return {
    ...rest,
    hash,
    refused: record.refused.map((each) => ({ ...each, hash: renamed(each.hash) })),
    orders: undo === undefined ? orders : { ...orders, undo: { ...undo, to: renamed(undo.to) } },
    ...(proven === undefined ? {} : { proven: { ...proven, hash: renamed(proven.hash) } }),
    // Nobody goes back from a revision to itself.
    ...(back === undefined || back.hash === hash ? {} : { former: back }),
  };
}

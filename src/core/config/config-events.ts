/**
 * What the content of a revision tells as Events of its DaemonSet (ADR 0061).
 *
 * Names of objects, never a hash of one and never content. What goes on until somebody mends it is a standing one.
 */
import { counted } from '@rollcall/base/counted.ts';
import { podsOfView } from '../view/view.ts';
import type { PlannedEvent, View } from '../model/plan.ts';
import { isOfContent } from '../pod/revision.ts';
import type { ConfigLook, ConfigProblem } from './look-at-config.ts';
import { configNameText, namesText, NAMED_MAX } from './references.ts';

/** Events of one look. */
export function tellConfig(look: ConfigLook, view: View): readonly PlannedEvent[] {
  return [...tellChange(look, view), ...tellTrouble(look)];
}

function tellChange({ changed, revision }: ConfigLook, view: View): readonly PlannedEvent[] {
  if (changed.length === 0) return [];
  const what = `The content of ${namesText(changed)} changed`;
  if (isOfContent(revision)) {
    const message = `${what}: pods get it step by step, as revision ${revision}`;
    return [{ type: 'Normal', reason: 'ConfigChanged', message }];
  }
  const pods = podsOfView(view).length;
  const message = `${what} since ${counted(pods, 'pod')} began; nothing restarts them, and those that are made from now on have it`;
  return [{ type: 'Normal', reason: 'ConfigChanged', message }];
}

function tellTrouble({ state, problems, leftOutCount }: ConfigLook): readonly PlannedEvent[] {
  const told: string[] = [];
  if (state === 'no-key')
    told.push('the cluster has no Secret rollcall-config-key that can be read');
  if (problems.length > 0) told.push(`${problemsText(problems)}; the content known last counts`);
  if (leftOutCount > 0)
    told.push(`${counted(leftOutCount, 'object is', 'objects are')} beyond the bound of 32`);
  if (told.length === 0) return [];
  const message = `The policy has content in the revision (config), but ${told.join('; ')}`;
  return [{ type: 'Warning', reason: 'ConfigUnknown', message, isStanding: true }];
}

const WORDS: Readonly<Record<ConfigProblem['problem'], string>> = {
  missing: 'is missing',
  forbidden: 'may not be read by the watcher',
  unread: 'could not be read for a while',
};

/** Each problem with its object, some of them. */
function problemsText(problems: readonly ConfigProblem[]): string {
  const some = problems.slice(0, NAMED_MAX);
  const words = some.map((each) => `${configNameText(each)} ${WORDS[each.problem]}`).join(', ');
  const more = problems.length - some.length;
  return more > 0 ? `${words} and ${String(more)} more` : words;
}

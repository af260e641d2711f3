/**
 * Writes the copy of a good revision's template, or sees that it stands (ADR 0063).
 *
 * What is written is the present template by a live read of this run: once the DaemonSet was edited nothing is. The name fences
 * a create, UID and version a PUT. An unknown copy of the former revision is kept, and the other place taken next. A
 * refusal is told and kept for a while: where no admission policy is installed no request needs a copy. Differs from upstream: it keeps none.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { CreateCopyEffect, Outcome, ReplaceCopyEffect } from '../../../core/model/effects.ts';
import type { CopyWish } from '../../../core/model/staged-progress.ts';
import type { Plan } from '../../../core/model/plan.ts';
import {
  buildCopy,
  copyName,
  hashOfCopy,
  holdsTemplate,
  isCopyOfOwner,
  isSameCopy,
} from '../../../core/admission/template-copy.ts';
import { withCopy } from '../../../core/admission/plan-copy.ts';
import { passesFence, type NotedFence } from '../confirm/batch-fence.ts';
import { readFormer } from '../history/former.ts';
import { readPlanned } from '../confirm/live-daemon-set.ts';
import { sendOne } from '../run/context.ts';
import type { RunResult } from '../run/result.ts';

interface CopyStep extends NotedFence {
  readonly plan: Plan;
}

/** Sees to the copy that the plan asks for, if it asks for one. */
export async function keepCopy(step: CopyStep): Promise<void> {
  const { copy } = step.plan;
  if (copy === undefined) return;
  const { access, result, input, context } = step;
  const name = copyName(input.daemonSet.metadata.name, copy.slot);
  const live = await access.getTemplateCopy({ namespace: context.hint.key.namespace, name });
  if (live.kind === 'unavailable') {
    if (live.isRefused) noteRefusal(copy, live.message, step);
    else addOpen(result, live);
    return;
  }
  if (live.kind === 'missing') {
    await write(copy, undefined, step);
    return;
  }
  const found = live.object;
  if (!isCopyOfOwner(found, input.stored.ref.uid)) {
    const { namespace } = context.hint.key;
    const remedy = `where a deleted DaemonSet left it: kubectl --namespace ${namespace} delete podtemplate ${name}`;
    noteRefusal(copy, `${name} is not owned by this DaemonSet alone; ${remedy}`, step);
  } else if (isSameCopy(found, buildCopy(input.daemonSet, copy))) {
    noteHeld(copy, step);
  } else {
    const ofFormer = await judgeFormer(found, step);
    if (ofFormer.kind === 'unknown') addOpen(result, ofFormer);
    else if (ofFormer.kind === 'yes') noteFormer(copy, step);
    else await write(copy, found, step);
  }
}

type OfFormer =
  | { readonly kind: 'yes' }
  | { readonly kind: 'no' }
  | { readonly kind: 'unknown'; readonly message: string };

const YES: OfFormer = { kind: 'yes' };
const NO: OfFormer = { kind: 'no' };

/**
 * Whether it was unknown that it is the former revision's, to which a later breach leads: after a lost state, or where that revision
 * has another hash by now. It says so, or holds that template; and no other copy of it is known.
 */
async function judgeFormer(
  found: KubernetesObject,
  { plan, input, access }: CopyStep,
): Promise<OfFormer> {
  const former = plan.stages?.record.former;
  if (former === undefined) return NO;
  const { hash } = former;
  const isKnown = input.state.copies?.held.some((each) => each.hash === hash) === true;
  if (isKnown || hash === plan.copy?.hash) return NO;
  if (hashOfCopy(found) === hash) return YES;
  const read = await readFormer(hash, input, access);
  if (read.kind === 'unavailable') return { kind: 'unknown', message: read.message };
  return read.kind === 'found' && holdsTemplate(found, read.former.template) ? YES : NO;
}

async function write(
  copy: CopyWish,
  found: KubernetesObject | undefined,
  step: CopyStep,
): Promise<void> {
  const { result } = step;
  if (!(await passesFence(step))) return;
  const live = await readPlanned(step);
  if (live.kind === 'failed') addOpen(result, live);
  else if (live.kind === 'found') {
    const outcome = await sendOne(effectOf(buildCopy(live.object, copy), found, step), step);
    noteOutcome(outcome, copy, step);
  } else {
    const message = 'the DaemonSet changed since it was seen; its template is not copied';
    result.add({ code: 'daemon-set-changed', message, pace: 'soon' });
  }
}

function effectOf(
  body: JsonObject,
  found: KubernetesObject | undefined,
  { context, input, plan }: CopyStep,
): CreateCopyEffect | ReplaceCopyEffect {
  const { namespace } = context.hint.key;
  const name = copyName(input.daemonSet.metadata.name, plan.copy?.slot ?? 'a');
  if (found === undefined) return { kind: 'create-copy', namespace, name, body };
  const { uid, resourceVersion: version } = found.metadata;
  const metadata = { ...(body['metadata'] as JsonObject), uid, resourceVersion: version };
  return { kind: 'replace-copy', namespace, name, body: { ...body, metadata } };
}

function noteOutcome(outcome: Outcome, copy: CopyWish, step: CopyStep): void {
  switch (outcome.kind) {
    case 'done':
      noteHeld(copy, step);
      return;
    case 'refused':
      noteRefusal(copy, outcome.message, step);
      return;
    case 'unsent':
      addOpen(step.result, outcome);
      return;
    case 'exists':
    case 'conflict':
    case 'gone':
    case 'ambiguous':
      addOpen(step.result, { message: `the copy of revision ${copy.hash} is looked for again` });
  }
}

function noteHeld({ slot, hash }: CopyWish, { input, result }: CopyStep): void {
  const known = result.copies ?? input.state.copies;
  result.copies = withCopy(known, { slot, hash, seenAtMs: input.nowMs });
}

function noteFormer({ slot }: CopyWish, step: CopyStep): void {
  const { former } = step.plan.stages?.record ?? {};
  if (former === undefined) return;
  noteHeld({ slot, hash: former.hash }, step);
  const message = 'the copy of the former revision stands there; the other place is taken';
  step.result.add({ code: 'outcome-open', message, pace: 'soon' });
}

/** Told, and left alone for a while. */
function noteRefusal({ hash }: CopyWish, detail: string, { input, result }: CopyStep): void {
  const held = (result.copies ?? input.state.copies)?.held ?? [];
  result.copies = { held, refusedAtMs: input.nowMs };
  const message = `The template of revision ${hash} cannot be kept as a copy, so an admission policy will refuse its pods once the template changes: ${detail}`;
  result.events.push({ type: 'Warning', reason: 'CopyRefused', message, isStanding: true });
}

function addOpen(result: RunResult, { message }: { readonly message: string }): void {
  result.add({ code: 'outcome-open', message, pace: 'backoff' });
}

/**
 * What the log says came of a request: one word, and a code where it was refused; never what the API server said (S11).
 */
import { defined } from '@rollcall/base/defined.ts';
import type { SentEffect } from '../../../core/log/effect-entries.ts';
import type { Outcome } from '../../../core/model/effects.ts';
import type { CreateResult } from './create-result.ts';

type Came = Pick<SentEffect, 'came' | 'code'>;

/** Of a delete: where the pod is gone already, an earlier request of ours, whose answer was lost, may have done it. */
export function cameOfDelete(outcome: Outcome): Came {
  return outcome.kind === 'gone' ? { came: 'done', code: 'gone' } : cameOf(outcome);
}

export function cameOf(outcome: Outcome): Came {
  switch (outcome.kind) {
    case 'done':
      return { came: 'done' };
    case 'unsent':
      return { came: 'unsent' };
    case 'ambiguous':
      return { came: 'unknown' };
    case 'gone':
    case 'exists':
    case 'conflict':
      return { came: 'refused', code: outcome.kind };
    case 'refused':
      return { came: 'refused', code: outcome.code };
  }
}

export function cameOfCreate(creation: CreateResult): Came {
  switch (creation.kind) {
    case 'created':
      return { came: 'done', ...defined({ code: creation.isNew ? undefined : 'exists' }) };
    case 'waiting':
      return { came: 'refused', code: creation.held };
    case 'withheld':
      return { came: 'unsent' };
    case 'refused':
      // It was made, whatever a webhook did to it (row 42).
      return { came: creation.pod === undefined ? 'refused' : 'done', code: creation.code };
    case 'closed':
      return { came: 'refused', code: creation.code };
    case 'unsent':
      return { came: 'unsent' };
    case 'open':
      return { came: 'unknown' };
  }
}

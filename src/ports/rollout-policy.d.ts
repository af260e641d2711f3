/**
 * Reading a rollout policy from the text of its annotation. The text is a user's; reading it never throws.
 */
import type { PolicyReading } from '../core/policy/rollout-policy.ts';
/** Reads texts of the annotation `rollcall.dev/rollout`. */
export interface PolicyReader {
  /** `undefined` or blank: none. Anything else is a policy, or invalid with every problem by its field. */
  read(text: string | undefined): PolicyReading;
}

/** Stores verdicts if they differ from those stored last. */
import type { Plan } from '../../../core/model/plan.ts';
import { hash48 } from '@rollcall/base/hash48.ts';
import type { EndContext, Subject } from '../run/context.ts';

/** Answers their hash. */
export async function storeVerdicts(
  verdicts: Plan['verdicts'],
  input: { readonly context: EndContext; readonly subject: Pick<Subject, 'basis' | 'state'> },
): Promise<string> {
  const { context, subject } = input;
  const verdictsHash = hash48(JSON.stringify(verdicts)).toString(36);
  if (verdictsHash !== subject.state.verdictsHash) {
    await context.dependencies.view.writeVerdicts(subject.basis.ref, verdicts);
  }
  return verdictsHash;
}

/** Plays one kept plan and prints what came of it. */
import { describeBroken } from '../../support/simulation/describe-broken.ts';
import { readKept } from '../../support/simulation/kept-plan.ts';
import { playPlan } from '../../support/simulation/play-plan.ts';

/** Plays the plan of a file; answers the exit code. */
export async function replayKept(file: string, isTracing: boolean): Promise<number> {
  const { broke, plan } = readKept(file);
  console.log(`once broke ${broke.rule} at commit ${broke.commit}: ${broke.finding}`);
  const result = await playPlan(plan);
  if (isTracing) console.log(result.trace.join('\n'));
  if (result.kind === 'held') {
    console.log('every promise held');
    return 0;
  }
  console.log(describeBroken(result, `npm run sim -- --replay ${file}`));
  return 1;
}

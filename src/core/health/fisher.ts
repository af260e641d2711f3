/**
 * Fisher's exact test, one-sided: how often chance alone would put at least so many of the bad nodes on one side.
 *
 * It tells whether pods of the former revision fail as often (excuse.ts), and halts nothing: looked at
 * again and again it alarms too often.
 */

/** Bad and good nodes of two sides. */
export interface FourCounts {
  readonly updatedBad: number;
  readonly updatedGood: number;
  readonly othersBad: number;
  readonly othersGood: number;
}

/** P(at least `updatedBad` of all bad nodes are updated ones), given the sums of rows and columns; 1 when nothing is bad. */
export function fisherOneSided(counts: FourCounts): number {
  const { updatedBad, updatedGood, othersBad, othersGood } = counts;
  const updated = updatedBad + updatedGood;
  const others = othersBad + othersGood;
  const bad = updatedBad + othersBad;
  const all = lnChoose(updated + others, bad);
  let sum = 0;
  for (let hits = updatedBad; hits <= Math.min(updated, bad); hits += 1) {
    if (bad - hits > others) continue;
    sum += Math.exp(lnChoose(updated, hits) + lnChoose(others, bad - hits) - all);
  }
  return Math.min(1, sum);
}

function lnChoose(from: number, chosen: number): number {
  return lnFactorial(from) - lnFactorial(chosen) - lnFactorial(from - chosen);
}

/** Below it factorials are summed; above, Stirling's series is exact to the last digits. */
const SUMMED_BELOW = 32;

function lnFactorial(value: number): number {
  if (value < SUMMED_BELOW) {
    let sum = 0;
    for (let factor = 2; factor <= value; factor += 1) sum += Math.log(factor);
    return sum;
  }
  const next = value + 1;
  const series = 1 / (12 * next) - 1 / (360 * next ** 3) + 1 / (1260 * next ** 5);
  return (next - 0.5) * Math.log(next) - next + 0.5 * Math.log(2 * Math.PI) + series;
}

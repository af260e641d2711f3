/**
 * The order of versions of a group: stable ones first, then beta, then alpha, each the newest first; whatever else by its
 * text. As Kubernetes' version.CompareKubeAwareVersionStrings has it, the preferred one first. Pure.
 */

const STAGES = ['', 'beta', 'alpha'];
const VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;

/** Negative where the left version is preferred. */
export function compareVersions(left: string, right: string): number {
  const [leftRank, rightRank] = [rankOf(left), rankOf(right)];
  if (leftRank === undefined || rightRank === undefined) {
    if (leftRank !== undefined) return -1;
    if (rightRank !== undefined) return 1;
    return left < right ? -1 : left === right ? 0 : 1;
  }
  for (const [index, rank] of leftRank.entries()) {
    const difference = rank - (rightRank[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Smaller goes first: stage, major version, minor version of the stage. */
function rankOf(version: string): readonly number[] | undefined {
  const match = VERSION.exec(version);
  if (match === null) return undefined;
  return [STAGES.indexOf(match[2] ?? ''), -Number(match[1]), -Number(match[3] ?? 0)];
}

/**
 * Ids for clusters that come with names of their own: contexts of a kubeconfig, clusters of EKS.
 *
 * What tools write as a context (an ARN, a URL, user@cluster) is made short and valid. Two clusters never
 * get one id by that: a collision is shown, and both are left to the person.
 */

const ID_CHARACTERS_MAX = 100;
const EKS_ARN = /^arn:[a-z-]+:eks:([a-z0-9-]+):(\d{12}):cluster\/([A-Za-z0-9_-]+)$/;
/** `NAMESPACE/HOST:PORT/USER`, as OpenShift's tools write it. */
const OPENSHIFT = /^[^/]*\/([^/:]+):\d+\/[^/]*$/;

/** An id for a name; empty if nothing of it can be used. */
export function idForName(name: string): string {
  const short =
    EKS_ARN.exec(name)?.[3] ?? OPENSHIFT.exec(name)?.[1] ?? name.replace(/^https?:\/\//, '');
  return short
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, ID_CHARACTERS_MAX)
    .replace(/[-._]+$/, '');
}

/** The EKS cluster that a context's name stands for, as `aws eks update-kubeconfig` writes it. */
export function eksOfName(
  name: string,
): { readonly eks: string; readonly eksRegion: string } | undefined {
  const [, eksRegion, , eks] = EKS_ARN.exec(name) ?? [];
  return eks === undefined || eksRegion === undefined ? undefined : { eks, eksRegion };
}

/** Ids that more than one of the names has. */
export function collisionsOf(ids: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const id of ids) (seen.has(id) ? twice : seen).add(id);
  return twice;
}

/** A pattern of names with `*` and `?`, for the whole name. */
export function globPattern(glob: string): RegExp {
  const escaped = glob.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
}

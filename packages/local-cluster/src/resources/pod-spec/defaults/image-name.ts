/**
 * Names of images as far as pull policies need them: has it a tag, and is that `latest`?
 */

const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const HOST =
  '(?:[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)(?:\\.[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+\\]';
const REFERENCE = new RegExp(
  `^(?:(?:${HOST})(?::[0-9]+)?/)?${COMPONENT}(?:/${COMPONENT})*(?::([A-Za-z0-9_][-A-Za-z0-9_.]{0,127}))?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);
const REMEMBERED_MAX = 4096;

const remembered = new Map<string, string>();

/** The pull policy that an image's name implies: Always for `latest`, said or not; IfNotPresent otherwise. */
export function defaultPullPolicy(image: string): string {
  const known = remembered.get(image);
  if (known !== undefined) return known;
  const policy = isLatest(image) ? 'Always' : 'IfNotPresent';
  if (remembered.size >= REMEMBERED_MAX) remembered.clear();
  remembered.set(image, policy);
  return policy;
}

function isLatest(image: string): boolean {
  const match = REFERENCE.exec(image);
  // A name that is none (64 hexadecimal digits are an id) has no tag either.
  if (match === null || /^[0-9a-f]{64}$/.test(image)) return false;
  const [, tag, digest] = match;
  return tag === undefined ? digest === undefined : tag === 'latest';
}

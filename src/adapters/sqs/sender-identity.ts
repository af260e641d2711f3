/**
 * Who sent a message: the SenderId that SQS fills in, which a sender cannot forge (S6).
 *
 * For a role it is `AROA…:<session name>`; the session name is the caller's own choice under IRSA, so
 * only the part before the colon is an identity (spec aws-facts 1.6). An IAM user's id, and the
 * account id that some emulators put there, have no colon and stand for themselves: a registration
 * names what is expected, so neither can pass for a role.
 */

const IDENTITY_PATTERN = /^[A-Za-z0-9]{1,128}$/;

/**
 * The identity in a SenderId: the role's unique id, or the whole when there is no session name.
 * Undefined when it is missing or has another form: refuse the message then.
 */
export function identifySender(senderId: string | undefined): string | undefined {
  const identity = senderId?.split(':', 1)[0];
  return identity !== undefined && IDENTITY_PATTERN.test(identity) ? identity : undefined;
}

/**
 * What the SDK does anew for each request, and need not: some of its middleware is left out, and its signer is made once.
 *
 * Its middleware for logs copies the input and the answer of each call, to leave out what is sensitive, and throws both copies away
 * without a logger: a quarter of what a small read costs. It puts together its user agent from some twenty parts, and copies its whole
 * configuration into a new signer: an eighth. A signer asks for its credentials and for the time with each signature, so one that is
 * kept signs no differently. Assumes that nobody gives a client another region or other credentials once it is made.
 */

/** What every request to AWS calls itself, as those to an API server do. */
const USER_AGENT = 'rollcall';

type Next = (step: Step) => Promise<unknown>;

interface Step {
  readonly request?: { readonly headers?: Record<string, string> };
}

interface Stack {
  remove(name: string): boolean;
  add(
    middleware: (next: Next) => Next,
    options: { readonly step: 'build'; readonly name: string },
  ): void;
}

/** Where and as whom is signed. */
interface Scheme {
  readonly signingName?: string;
  readonly signingRegion?: string;
}

type MakeSigner = (scheme?: Scheme) => Promise<unknown>;

/** What every client of the SDK has, whoever names its type. */
interface SparedClient {
  readonly middlewareStack?: Stack;
  readonly config?: { signer?: MakeSigner };
}

/** Spares a client of the SDK this from now on. */
export function spareMiddleware(client: object): void {
  const { middlewareStack: stack, config }: SparedClient = client;
  stack?.remove('loggerMiddleware');
  if (stack?.remove('getUserAgentMiddleware') === true) {
    stack.add(callRollcall, { step: 'build', name: 'rollcallUserAgent' });
  }
  if (config?.signer !== undefined) config.signer = once(config.signer);
}

function callRollcall(next: Next): Next {
  return (step) => {
    const headers = step.request?.headers;
    if (headers !== undefined) headers['user-agent'] = USER_AGENT;
    return next(step);
  };
}

/** One signer for each scheme; one that could not be made is made again. */
function once(make: MakeSigner): MakeSigner {
  const signers = new Map<string, Promise<unknown>>();
  return (scheme) => {
    const key = `${scheme?.signingName ?? ''}/${scheme?.signingRegion ?? ''}`;
    const known = signers.get(key);
    if (known !== undefined) return known;
    const made = make(scheme);
    signers.set(key, made);
    made.catch(() => signers.delete(key));
    return made;
  };
}

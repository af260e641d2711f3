/**
 * Remembers the result for the last argument.
 *
 * For what is made of a list that is another one when it changes, and is asked for at each request.
 */

/** The function with a memory of one. */
export function memoized<A extends object, R extends object>(
  make: (argument: A) => R,
): (argument: A) => R {
  let last: { readonly argument: A; readonly result: R } | undefined;
  return (argument) => {
    if (last?.argument !== argument) last = { argument, result: make(argument) };
    return last.result;
  };
}

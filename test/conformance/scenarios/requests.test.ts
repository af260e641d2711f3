/**
 * What Rollcall costs the API server, on a hundred nodes: requests.nightly.test.ts has a thousand.
 *
 * A view that is 30 s behind is not to be expected here: it is tried twice at most.
 */
import { it } from 'node:test';
import { describeRequests } from './requests-suite.ts';

describeRequests(100, (play) => {
  it('costs a request per pod and at most forty besides, and no LIST but the one before the first pods (protocol 9)', (context) =>
    play(context, { triesMax: 2 }));
});

/**
 * What Rollcall costs the API server, on a thousand nodes. Where two cores have the real control plane besides, ingest
 * falls half a minute behind in about every second join: then what is read says nothing, and is tried again.
 */
import { it } from 'node:test';
import { describeRequests } from './requests-suite.ts';

describeRequests(1000, (play) => {
  it('costs at most 1.1 non-event requests per pod and no LIST but the one before the first pods (protocol 9)', (context) =>
    play(context, { triesMax: 6 }));
});

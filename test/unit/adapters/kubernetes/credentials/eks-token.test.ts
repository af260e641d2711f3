/** EKS tokens against vectors made by botocore, and their life in a warm process. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { STSClient } from '@aws-sdk/client-sts';
import { AWS_PARTITIONS } from '../../../../../src/adapters/kubernetes/egress/aws-partitions.ts';
import {
  createEksToken,
  isRegion,
  createEksTokenSource,
} from '../../../../../src/adapters/kubernetes/credentials/token-source.ts';
import { openEgress } from '../../../../../src/adapters/kubernetes/egress/egress.ts';
import { parseEndpoint } from '../../../../../src/adapters/kubernetes/egress/endpoint.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

// AWS's own documentation credentials; the expected URLs were made by botocore 1.x at the same second.
const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const nowMs = Date.parse('2026-01-02T03:04:05Z');
const HEAD =
  'https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15' +
  '&X-Amz-Algorithm=AWS4-HMAC-SHA256' +
  '&X-Amz-Credential=AKIDEXAMPLE%2F20260102%2Feu-west-1%2Fsts%2Faws4_request' +
  '&X-Amz-Date=20260102T030405Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id';

function urlOf(token: string): string {
  assert.match(token, /^k8s-aws-v1\.[A-Za-z0-9_-]+$/);
  return Buffer.from(token.slice('k8s-aws-v1.'.length), 'base64url').toString();
}

describe('createEksToken', () => {
  const request = { clusterName: 'fleet-west', region: 'eu-west-1', nowMs };

  it('is what botocore makes of a user credential', async () => {
    const token = await createEksToken({ ...request, credentials });
    const signature = 'b274c5089d213b1ba747dd51cc9db53ca187eab8d9cde3af677d3caad44224d7';
    assert.equal(urlOf(token), `${HEAD}&X-Amz-Signature=${signature}`);
  });

  it('is what botocore makes of a role credential', async () => {
    const sessionToken = 'FwoGZXIvYXdzE/session+token==';
    const token = await createEksToken({
      ...request,
      credentials: { ...credentials, sessionToken },
    });
    const signature = 'bbb90bcd75ea34f6b88997318ed0d19226482a94a2dc4b45adf4a1a1b7eef897';
    assert.equal(
      urlOf(token),
      `${HEAD}&X-Amz-Security-Token=FwoGZXIvYXdzE%2Fsession%2Btoken%3D%3D&X-Amz-Signature=${signature}`,
    );
  });

  it('refuses a region that would choose another host (S12)', async () => {
    // A partition that nobody knows has no host that could be trusted.
    for (const region of [
      'us-isoz-east-1',
      'xx-west-1',
      'aws-global',
      'evil.example/',
      'eu-west-1.evil',
      '',
      'EU-WEST-1',
      'eu west-1',
    ]) {
      assert.equal(isRegion(region), false, region);
      await assert.rejects(createEksToken({ ...request, region, credentials }), RangeError);
    }
    for (const region of ['eu-west-1', 'us-gov-east-1', 'cn-north-1', 'ap-southeast-10']) {
      assert.equal(isRegion(region), true, region);
    }
  });
});

describe('partitions', () => {
  const regions = [
    ...['us-east-1', 'eu-central-2', 'ap-southeast-7', 'mx-central-1', 'il-central-1'],
    ...['us-gov-west-1', 'cn-north-1', 'cn-northwest-1', 'eusc-de-east-1'],
    ...['us-iso-east-1', 'us-isob-east-1', 'eu-isoe-west-1', 'us-isof-south-1'],
  ];

  it('each have a region here, and each gets the STS host that the SDK gives it (F16i)', async () => {
    for (const { regions: pattern } of AWS_PARTITIONS) {
      assert.ok(
        regions.some((region) => pattern.test(region)),
        String(pattern),
      );
    }
    for (const region of regions) {
      const request = { clusterName: 'fleet', region, nowMs, credentials };
      const { hostname } = new URL(urlOf(await createEksToken(request)));
      const sts = new STSClient({ region });
      const { url } = sts.config.endpointProvider({ Region: region, UseGlobalEndpoint: false });
      assert.equal(hostname, url.hostname);
      sts.destroy();
    }
  });
});

describe('hosts that an EKS token may go to', () => {
  const isOpen = (host: string): boolean => {
    const parsed = parseEndpoint(`https://${host}`);
    assert.equal(parsed.kind, 'endpoint');
    const { endpoint } = parsed;
    const onRefused = (): void => assert.fail('nothing is connected to');
    return openEgress({ endpoint, tokenIsFor: 'eks', policy: {}, onRefused }).kind === 'opened';
  };

  it('are those of EKS, in every partition, and no others (F16i, S12)', () => {
    for (const { suffix, dualStackSuffix } of AWS_PARTITIONS) {
      assert.ok(isOpen(`1a.gr7.some-region-1.eks.${suffix}`), suffix);
      assert.ok(isOpen(`1a.eks-cluster.some-region-1.${dualStackSuffix}`), dualStackSuffix);
      assert.ok(!isOpen(`1a.eks.${suffix}.example`), suffix);
      assert.ok(!isOpen(`1a.eks.${suffix.replace('.', 'x')}`), suffix);
      assert.ok(!isOpen(`x.execute-api.${dualStackSuffix}`), dualStackSuffix);
    }
  });
});

describe('createEksTokenSource', () => {
  function sourceWith(expiration?: Date) {
    const clock = new VirtualClock(nowMs);
    const calls = { count: 0 };
    const source = createEksTokenSource({
      clusterName: 'fleet-west',
      region: 'eu-west-1',
      clock,
      awsCredentials: () => {
        calls.count += 1;
        return Promise.resolve({ ...credentials, ...(expiration && { expiration }) });
      },
    });
    return { clock, calls, source };
  }

  it('mints one token for many requests, and another after ten minutes', async () => {
    const { clock, calls, source } = sourceWith();
    const [first, second] = await Promise.all([source.token(), source.token()]);
    assert.equal(first, second);
    await clock.advance(599_000);
    assert.equal(await source.token(), first);
    assert.equal(calls.count, 1);
    assert.equal(source.generation(), 1);
    await clock.advance(2000);
    assert.notEqual(await source.token(), first);
    assert.equal(source.generation(), 2);
  });

  it('keeps no token beyond the credentials that signed it', async () => {
    const { clock, calls, source } = sourceWith(new Date(nowMs + 120_000));
    await source.token();
    await clock.advance(61_000);
    await source.token();
    assert.equal(calls.count, 2);
  });

  it('mints afresh once the token was refused', async () => {
    const { calls, source } = sourceWith();
    await source.token();
    source.invalidate();
    await source.token();
    assert.equal(calls.count, 2);
  });
});

// What words of kubelet, runtime and scheduler mean; the lists are Kubernetes 1.36's (rollouts facts 1).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isCalledAway,
  isLostExit,
  refusalSign,
  waitingMeaning,
} from '../../../../src/core/health/pod-signs.ts';

describe('waitingMeaning', () => {
  it('knows the signs of words that cannot mend themselves', () => {
    const certain = {
      InvalidImageName: 'ImagePull',
      ErrImageNeverPull: 'ImagePull',
      CreateContainerConfigError: 'ContainerConfig',
    };
    for (const [word, sign] of Object.entries(certain)) {
      assert.deepEqual(waitingMeaning(word), { sign, isCertain: true }, word);
    }
  });

  it('knows the signs of words that are tried again', () => {
    const retried = {
      ErrImagePull: 'ImagePull',
      ImagePullBackOff: 'ImagePull',
      RegistryUnavailable: 'ImagePull',
      SignatureValidationFailed: 'ImagePull',
      ImageInspectError: 'ImagePull',
      CreateContainerError: 'RuntimeRefused',
      RunContainerError: 'RuntimeRefused',
      PreCreateHookError: 'RuntimeRefused',
      PreStartHookError: 'RuntimeRefused',
      PostStartHookError: 'RuntimeRefused',
    };
    for (const [word, sign] of Object.entries(retried)) {
      assert.deepEqual(waitingMeaning(word), { sign, isCertain: false }, word);
    }
  });

  it('leaves crash loops to exits, and words that nobody knows, or everybody inherits, alone', () => {
    for (const word of ['CrashLoopBackOff', 'ContainerCreating', '', 'toString', 'constructor']) {
      assert.equal(waitingMeaning(word), undefined, word);
    }
  });
});

describe('isLostExit', () => {
  it('is an exit that nobody saw', () => {
    assert.equal(isLostExit({ reason: 'ContainerStatusUnknown', exitCode: 137 }), true);
    assert.equal(isLostExit({ reason: 'Unknown', exitCode: 255 }), true);
    assert.equal(isLostExit({ reason: 'Unknown', exitCode: 1 }), false);
    assert.equal(isLostExit({ reason: 'Error', exitCode: 255 }), false);
  });
});

describe('refusalSign', () => {
  it('tells what the pod asks for from what the node lacks, and both from evictions', () => {
    const pods = [
      'AppArmor',
      'SysctlForbidden',
      'PodOSNotSupported',
      'PodOSSelectorNodeLabelDoesNotMatch',
      'InitContainerRestartPolicyForbidden',
      'SupplementalGroupsPolicyNotSupported',
    ];
    for (const reason of pods) assert.equal(refusalSign(reason), 'PodRefused', reason);
    for (const reason of ['Evicted', 'Terminated', 'Preempting', 'NodeShutdown']) {
      assert.equal(refusalSign(reason), 'Evicted', reason);
    }
    for (const reason of ['OutOfcpu', 'NodeAffinity', '']) {
      assert.equal(refusalSign(reason), 'NodeRefused', reason);
    }
  });
});

describe('isCalledAway', () => {
  it('is what says nothing about release or node', () => {
    const reasons = [
      'PreemptionByScheduler',
      'DeletionByTaintManager',
      'EvictionByEvictionAPI',
      'DeletionByPodGC',
    ];
    for (const reason of reasons) assert.equal(isCalledAway(reason), true, reason);
    assert.equal(isCalledAway('TerminationByKubelet'), false);
    assert.equal(isCalledAway(''), false);
  });
});

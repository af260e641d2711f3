/**
 * What AWS would refuse or take away from a stack, judged from facts: pure.
 *
 * Before a first deployment, the account's places for invocations and a registry that is left from an earlier stack;
 * afterwards also what somebody may have switched off. Nothing here looks into a cluster (doctor does).
 */
/**
 * What all mappings and the schedule may take at once (serverless.yml): 173 by their caps, and two of `resync`. A rule
 * over the packaged template holds the sum to it.
 */
export declare const CONCURRENCY_NEEDED = 175;
/** What was found out. */
export interface StackFacts {
    readonly stackName: string;
    readonly isDeployed: boolean;
    /** Of Lambda's account settings: all places of the account in the region, and those that no function has reserved. */
    readonly concurrency: {
        readonly total: number;
        readonly unreserved: number;
    };
    readonly registry: 'missing' | 'protected' | 'unprotected';
    /** Queues whose mapping is not enabled. */
    readonly stopped: readonly string[];
}
/** What is wrong, from a closed list. */
export type StackFindingCode = 'concurrency-quota' | 'concurrency-reserved' | 'registry-left' | 'registry-missing' | 'registry-unprotected' | 'stopped';
/** What is wrong, why that matters, and what to do. */
export interface StackFinding {
    readonly code: StackFindingCode;
    readonly message: string;
    readonly remedy: string;
}
/** All that is wrong, the gravest first. */
export declare function judgeStack(facts: StackFacts): readonly StackFinding[];

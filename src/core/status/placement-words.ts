/** Placement in words: apart from the other words of a node, as runs tell of it too (core/removal-guard). */
import type { PlacementReason } from '../model/verdict.ts';

/** Why a node's placement is what it is, as the end of a sentence that begins with the node. */
export function explainPlacement(reason: PlacementReason): string {
  switch (reason.code) {
    case 'Eligible':
      return 'matches the template and has no taint that it does not tolerate';
    case 'OtherNodeName':
      return `is not node ${reason.wanted}, which the template's nodeName demands`;
    case 'NodeSelectorMismatch':
      return `lacks the label ${reason.label} that the template's nodeSelector demands`;
    case 'NodeAffinityMismatch':
      return `does not match the template's required node affinity (${reason.detail})`;
    case 'NodeAffinityInvalid':
      return `cannot match the template's required node affinity, which is invalid (${reason.detail})`;
    case 'TaintNotTolerated':
      return `has taint ${reason.taint} which the template does not tolerate`;
  }
}

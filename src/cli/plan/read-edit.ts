/**
 * The edit that a command line of `rollcall plan` asks about: which DaemonSet, and what is done to it and to nodes.
 *
 * Nothing is read but the file. A command line that says two things at once is a CommandError (2); what is wrong with a manifest is
 * a problem of the plan, which names the field.
 */
import { readFileSync } from 'node:fs';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Taint, TaintEffect } from '@rollcall/base/objects.ts';
import { unknownFields } from '../../adapters/policy/manifest-fields.ts';
import { readManifest } from '../../adapters/policy/manifest-reader.ts';
import { createPolicyReader } from '../../adapters/policy/policy-reader.ts';
import { cleanManifest, judgeManifest } from '../../core/fleet/judge-manifest.ts';
import { nodeName } from '../../core/model/identifiers.ts';
import { POLICY_ANNOTATION } from '../../core/policy/rollout-policy.ts';
import type { Edit, EditProblem, ImageEdit, NodeEdit } from '../../core/what-if/edit.ts';
import type { NamespacedName } from '../../ports/stores/view-store.ts';
import { parseNamespacedName, readUserFile } from '../command-line/cluster-arguments.ts';
import {
  flagOption,
  textOption,
  textsOption,
  type OptionsOf,
} from '../command-line/command-module.ts';
import { plainText } from '../command-line/text-table.ts';
import { usageError } from '../process/exit-codes.ts';

export const EDIT_OPTIONS = {
  filename: textOption(
    '-f, --filename <file>',
    'apply the DaemonSet of this file, YAML or JSON; - reads stdin',
  ),
  manifest: textOption('--manifest <text>', 'apply the DaemonSet of this text'),
  daemonset: textOption(
    '--daemonset <namespace/name>',
    'the DaemonSet that is edited, or that edits of nodes are judged for',
  ),
  setImage: textsOption(
    '--set-image <[container=]image>',
    'give a container another image; repeat it for several',
  ),
  delete: flagOption('--delete', 'delete the DaemonSet'),
  label: textsOption('--label <node=key=value>', 'label a node; repeat it for several'),
  removeLabel: textsOption('--remove-label <node=key>', 'take a label from a node'),
  taint: textsOption('--taint <node=key[=value]:effect>', 'taint a node'),
  removeTaint: textsOption('--remove-taint <node=key[:effect]>', 'take a taint from a node'),
  cordon: textsOption('--cordon <node>', 'cordon a node'),
  uncordon: textsOption('--uncordon <node>', 'uncordon a node'),
  deleteNode: textsOption('--delete-node <node>', 'delete a node'),
};

export type EditOptions = OptionsOf<typeof EDIT_OPTIONS>;

/** What is asked about, or why it would be refused before anything is read of the cluster. */
export type AskedEdit =
  | {
      readonly kind: 'edit';
      readonly key: NamespacedName;
      readonly edit: Edit;
      /** Other objects of the file. */
      readonly leftOut: readonly string[];
    }
  | {
      readonly kind: 'refused';
      /** Absent: the manifest does not say. */
      readonly key?: NamespacedName;
      readonly problems: readonly EditProblem[];
    };

/** Reads it. Throws CommandError (2). */
export function readEdit(options: EditOptions): AskedEdit {
  const nodes = nodeEditsOf(options);
  const text = manifestTextOf(options);
  if (text !== undefined) return editOfManifest(text, nodes);
  const { daemonset, setImage = [], delete: isDelete } = options;
  if (daemonset === undefined) {
    throw usageError(
      'It is not said which DaemonSet is planned.',
      'Pass its manifest with -f, or namespace/name with --daemonset.',
    );
  }
  const key = parseNamespacedName(daemonset, 'DaemonSet');
  const images = setImage.map(imageOf);
  if (isDelete === true && images.length + nodes.length > 0) {
    throw usageError('--delete goes with no other edit.', 'Plan one after the other.');
  }
  const edit = isDelete
    ? ({ kind: 'delete' } as const)
    : images.length > 0
      ? ({ kind: 'images', images } as const)
      : ({ kind: 'none' } as const);
  return { kind: 'edit', key, edit: { daemonSet: edit, nodes }, leftOut: [] };
}

function manifestTextOf({ filename, manifest, ...others }: EditOptions): string | undefined {
  if (filename === undefined && manifest === undefined) return undefined;
  const { daemonset, setImage, delete: isDelete } = others;
  const also = [daemonset, setImage, isDelete].some((given) => given !== undefined);
  if (also || (filename !== undefined && manifest !== undefined)) {
    throw usageError(
      'It is not clear what is done to the DaemonSet.',
      'Pass a manifest with -f or --manifest, or edits with --daemonset.',
    );
  }
  if (manifest !== undefined) return manifest;
  if (filename === '-') return readFileSync(0, 'utf8');
  return readUserFile(filename ?? '', 'Pass the file of a DaemonSet with -f, or - for stdin.');
}

function editOfManifest(text: string, nodes: readonly NodeEdit[]): AskedEdit {
  const reading = readManifest(text);
  if (reading.kind === 'invalid') return { kind: 'refused', problems: reading.problems };
  const { leftOut } = reading;
  const manifest = cleanManifest(reading.manifest);
  const key = keyOf(manifest);
  if (key === undefined) {
    const message = 'must have the names of a namespace and of a DaemonSet';
    return { kind: 'refused', problems: [{ field: 'metadata', message }] };
  }
  const judged = judgeManifest(manifest, key);
  const problems = [
    ...unknownFields(manifest),
    ...(judged.kind === 'invalid' ? judged.problems : []),
    ...policyProblems(manifest),
  ];
  if (problems.length > 0) return { kind: 'refused', key, problems };
  return { kind: 'edit', key, edit: { daemonSet: { kind: 'apply', manifest }, nodes }, leftOut };
}

function keyOf({ metadata }: JsonObject): NamespacedName | undefined {
  const { namespace, name } = (metadata ?? {}) as JsonObject; // of any shape: its members are looked at
  return typeof namespace === 'string' && typeof name === 'string'
    ? { namespace, name }
    : undefined;
}

function policyProblems({ metadata }: JsonObject): readonly EditProblem[] {
  const { annotations } = (metadata ?? {}) as JsonObject;
  const text = ((annotations ?? {}) as JsonObject)[POLICY_ANNOTATION];
  if (typeof text !== 'string') return [];
  const policy = createPolicyReader().read(text);
  if (policy.kind !== 'invalid') return [];
  return policy.problems.map(({ field, message }) => ({
    field: `metadata.annotations["${POLICY_ANNOTATION}"]${field === '' ? '' : `: ${field}`}`,
    message,
  }));
}

function imageOf(text: string): ImageEdit {
  const [container = '', image, ...more] = text.split('=');
  if (more.length === 0 && image === undefined && container !== '') return { image: container };
  if (more.length === 0 && container !== '' && image !== '')
    return { container, image: image ?? '' };
  throw wrong('--set-image', text, 'agent=registry.example/agent:2');
}

function nodeEditsOf(options: EditOptions): readonly NodeEdit[] {
  const { label = [], removeLabel = [], taint = [], removeTaint = [] } = options;
  const { cordon = [], uncordon = [], deleteNode = [] } = options;
  return [
    ...label.map(labelOf),
    ...removeLabel.map((text): NodeEdit => {
      const [node, key] = nodeAnd(text, '--remove-label', 'worker-7=pool');
      return { kind: 'unlabel', node, key };
    }),
    ...taint.map((text): NodeEdit => {
      const [node, written] = nodeAnd(text, '--taint', 'worker-7=gpu:NoSchedule');
      return { kind: 'taint', node, taint: taintOf(written, text) };
    }),
    ...removeTaint.map((text): NodeEdit => {
      const [node, written] = nodeAnd(text, '--remove-taint', 'worker-7=gpu:NoSchedule');
      const [key = '', effect] = written.split(':');
      if (effect === undefined) return { kind: 'untaint', node, key };
      return { kind: 'untaint', node, key, effect: effectOf(effect, text) };
    }),
    ...cordon.map((name): NodeEdit => ({ kind: 'cordon', node: nodeName(name) })),
    ...uncordon.map((name): NodeEdit => ({ kind: 'uncordon', node: nodeName(name) })),
    ...deleteNode.map((name): NodeEdit => ({ kind: 'delete', node: nodeName(name) })),
  ];
}

function labelOf(text: string): NodeEdit {
  const [node, rest] = nodeAnd(text, '--label', 'worker-7=pool=gpu');
  const [key = '', value, ...more] = rest.split('=');
  if (key === '' || value === undefined || more.length > 0) {
    throw wrong('--label', text, 'worker-7=pool=gpu');
  }
  return { kind: 'label', node, key, value };
}

function nodeAnd(
  text: string,
  option: string,
  example: string,
): readonly [NodeEdit['node'], string] {
  const [node = '', rest = ''] = text.split(/=(.*)/s, 2);
  if (node === '' || rest === '') throw wrong(option, text, example);
  return [nodeName(node), rest];
}

function taintOf(written: string, text: string): Taint {
  const [head = '', effect = ''] = written.split(/:([^:]*)$/, 2);
  const [key = '', value] = head.split(/=(.*)/s, 2);
  if (key === '') throw wrong('--taint', text, 'worker-7=gpu:NoSchedule');
  const taint = { key, effect: effectOf(effect, text) };
  return value === undefined || value === '' ? taint : { ...taint, value };
}

const EFFECTS: readonly TaintEffect[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function effectOf(effect: string, text: string): TaintEffect {
  const found = EFFECTS.find((each) => each === effect);
  if (found !== undefined) return found;
  throw usageError(
    `${plainText(text)} has no effect of a taint.`,
    `End it with one of ${EFFECTS.map((each) => `:${each}`).join(', ')}.`,
  );
}

function wrong(option: string, text: string, example: string): Error {
  return usageError(`${option} cannot take ${plainText(text)}.`, `Pass e.g. ${option} ${example}.`);
}

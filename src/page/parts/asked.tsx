/** What stands in place of a document that is not there: under way, absent, or why it cannot be had. */
import type { ComponentChildren, VNode } from 'preact';
import type { CommandError } from '../model/documents.ts';
import { durationText } from '../model/freshness.ts';
import type { Asked } from '../live/use-document.ts';
import { usePage } from '../live/page-context.ts';
import { useStore } from '../live/store.ts';
import { Remedy } from './command.tsx';

/** A refusal or a failure, in the words of the command. */
export function ErrorBox(props: { readonly error: CommandError }): VNode {
  const { message, remedy } = props.error;
  return (
    <div class="box box-failing" role="alert">
      <p class="lines">{message}</p>
      {remedy === '' ? null : (
        <p>
          <Remedy text={remedy} />
        </p>
      )}
    </div>
  );
}

/** The document once it is there, with its age where it has grown old. */
export function Shown<Document>(props: {
  readonly asked: Asked<Document>;
  /** The command that says the same. */
  readonly command: string;
  readonly children: (document: Document) => ComponentChildren;
}): VNode {
  const { asked, command, children } = props;
  const { document, error, isAbsent, atMs } = asked;
  if (isAbsent === true) {
    return <p class="empty">This rollcall ui does not have the command {command}.</p>;
  }
  return (
    <>
      {error === undefined ? null : <ErrorBox error={error} />}
      {error !== undefined && document !== undefined && atMs !== undefined ? (
        <OldNote atMs={atMs} />
      ) : null}
      {document === undefined && error === undefined ? (
        <p class="empty" role="status">
          Asking …
        </p>
      ) : null}
      {document === undefined ? null : children(document)}
    </>
  );
}

function OldNote(props: { readonly atMs: number }): VNode {
  const nowMs = useStore(usePage().now);
  return <p class="note">What follows is {durationText(Math.max(0, nowMs - props.atMs))} old.</p>;
}

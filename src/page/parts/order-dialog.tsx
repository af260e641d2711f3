/**
 * Asks before an order is given: what the command does in its own words, the command line that does the same, and what the command
 * asks for. A refusal is told as it is, and nothing is closed then.
 */
import type { VNode } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { usePage } from '../live/page-context.ts';
import { useDocument } from '../live/use-document.ts';
import type { CommandError } from '../model/documents.ts';
import { bodyOf, isAnswered, lineOfOrder } from '../model/orders.ts';
import type { Order } from '../model/orders.ts';
import { ErrorBox } from './asked.tsx';
import { CommandLine } from './command.tsx';

/** The part of OpenAPI that has a command's own words. */
interface ApiWords {
  readonly paths?: Readonly<
    Record<string, { readonly post?: { readonly summary?: string; readonly description?: string } }>
  >;
}

/** Buttons for orders, and their dialog. */
export function OrderButtons(props: {
  readonly orders: readonly Order[];
  /** An order was given. */
  readonly onGiven: () => void;
}): VNode | null {
  const { orders, onGiven } = props;
  const [asked, setAsked] = useState<Order>();
  if (orders.length === 0) return null;
  return (
    <div class="orders">
      {orders.map((order) => (
        <button
          key={order.line}
          type="button"
          class={`order order-${order.tone}`}
          onClick={() => {
            setAsked(order);
          }}
        >
          {order.title}
        </button>
      ))}
      {asked === undefined ? null : (
        <OrderDialog
          order={asked}
          onGiven={onGiven}
          onClose={() => {
            setAsked(undefined);
          }}
        />
      )}
    </div>
  );
}

type Progress =
  | { readonly kind: 'asked' | 'under-way' | 'given' }
  | { readonly kind: 'refused'; readonly error: CommandError };

interface DialogProps {
  readonly order: Order;
  readonly onGiven: () => void;
  readonly onClose: () => void;
}

function OrderDialog({ order, onGiven, onClose }: DialogProps): VNode {
  const { client } = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const [why, setWhy] = useState('');
  const [typed, setTyped] = useState('');
  const [progress, setProgress] = useState<Progress>({ kind: 'asked' });
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const answers = { why, typed };
  const isReady = isAnswered(order, answers) && progress.kind !== 'under-way';
  const give = async (): Promise<void> => {
    setProgress({ kind: 'under-way' });
    const answer = await client.order(order.words, bodyOf(order, answers));
    if (answer.kind === 'error') setProgress({ kind: 'refused', error: answer.error });
    else if (answer.kind === 'absent') setProgress({ kind: 'refused', error: ABSENT });
    else {
      setProgress({ kind: 'given' });
      onGiven();
    }
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isReady && progress.kind !== 'given') void give();
  };
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={titleId}>{order.title}</h2>
        <CommandWords order={order} />
        <p>
          <CommandLine command={lineOfOrder(order, answers)} />
        </p>
        {progress.kind === 'given' ? (
          <p class="box box-well" role="status">
            The order stands. What comes of it is shown as it happens.
          </p>
        ) : (
          <Questions {...{ order, why, typed }} onWhy={setWhy} onTyped={setTyped} />
        )}
        {progress.kind === 'refused' ? <ErrorBox error={progress.error} /> : null}
        <div class="dialog-ends">
          <button
            type="button"
            class="quiet"
            autofocus={order.asksWhy === undefined}
            onClick={() => dialog.current?.close()}
          >
            {progress.kind === 'asked' ? 'Leave it' : 'Close'}
          </button>
          {progress.kind === 'given' ? null : (
            <button type="submit" class={`order order-${order.tone}`} disabled={!isReady}>
              {progress.kind === 'under-way' ? 'Asking …' : order.title}
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
}

const ABSENT: CommandError = {
  message: 'This rollcall ui does not give this order.',
  remedy: 'Use the command line above.',
};

function CommandWords(props: { readonly order: Order }): VNode {
  const { words, note } = props.order;
  const { document } = useDocument<ApiWords>({ words: 'openapi.json' });
  const { summary, description } = document?.paths?.[`/api/v1/${words}`]?.post ?? {};
  return (
    <>
      {summary === undefined ? null : <p class="lead">It will {summary}.</p>}
      {description === undefined ? null : <p>{description}</p>}
      {note === undefined ? null : <p class="box box-waiting">{note}</p>}
    </>
  );
}

interface QuestionsProps {
  readonly order: Order;
  readonly why: string;
  readonly typed: string;
  readonly onWhy: (text: string) => void;
  readonly onTyped: (text: string) => void;
}

function Questions({ order, why, typed, onWhy, onTyped }: QuestionsProps): VNode {
  return (
    <>
      {order.asksWhy === undefined ? null : (
        <label class="field">
          <span>Why? The reason is kept with the order, and others read it.</span>
          <input
            type="text"
            required
            autofocus
            maxLength={256}
            value={why}
            onInput={(event) => {
              onWhy(event.currentTarget.value);
            }}
          />
        </label>
      )}
      {order.typed === undefined ? null : (
        <label class="field">
          <span>
            Type <kbd>{order.typed}</kbd> to confirm.
          </span>
          <input
            type="text"
            required
            autocomplete="off"
            value={typed}
            onInput={(event) => {
              onTyped(event.currentTarget.value);
            }}
          />
        </label>
      )}
    </>
  );
}

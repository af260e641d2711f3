/** Freeze and thaw of the whole stack. */
import type { VNode } from 'preact';
import { freezeOrders } from '../model/orders.ts';
import { useLive } from '../live/page-context.ts';
import { OrderButtons } from '../parts/order-dialog.tsx';

/** The one of the two that would change something. */
export function StackOrders(): VNode {
  const { health } = useLive();
  const { freeze, thaw } = freezeOrders({ kind: 'stack' });
  const isFrozen = health?.outages.some(({ code }) => code === 'frozen') === true;
  return <OrderButtons orders={[isFrozen ? thaw : freeze]} onGiven={() => undefined} />;
}

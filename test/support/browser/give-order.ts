/** Gives an order on the page as a person does: the button, the dialog with what it asks for, and the answer that is waited for. */
import assert from 'node:assert/strict';
import type { Page } from 'puppeteer-core';
import { tabTo } from './keyboard.ts';
import type { Visit } from './visit.ts';

/** What the dialog is told. */
export interface OrderAnswers {
  readonly why?: string;
  /** Typed to confirm. */
  readonly typed?: string;
}

const STANDS = /The order stands/;

/** By the pointer; rejects where the button does not come, or the order does not stand. */
export async function giveOrder(
  { page, hasText }: Visit,
  title: string,
  { why, typed }: OrderAnswers = {},
): Promise<void> {
  await page.locator(`main ::-p-aria([name="${title}"][role="button"])`).click();
  const submit = page.locator(`dialog[open] ::-p-aria([name="${title}"][role="button"])`);
  const fields = await fieldsOf(page);
  if (fields.length > 0) assert.ok(await isDisabled(page), 'it goes without what it asks for');
  const answers = [why, typed].filter((answer) => answer !== undefined);
  assert.equal(fields.length, answers.length, 'it asks for something else');
  for (const [index, answer] of answers.entries()) await fields[index]?.type(answer);
  await submit.click();
  await hasText(STANDS);
  await page.locator('dialog[open] ::-p-aria([name="Close"][role="button"])').click();
}

/** By the keyboard alone, where nothing is asked for. */
export async function giveOrderByKeyboard({ page, hasText }: Visit, title: string): Promise<void> {
  const name = new RegExp(`^${title}$`);
  await tabTo(page, name);
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog[open]');
  await tabTo(page, name);
  await page.keyboard.press('Enter');
  await hasText(STANDS);
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog[open]', { hidden: true });
}

async function fieldsOf(page: Page): ReturnType<Page['$$']> {
  await page.waitForSelector('dialog[open]');
  return page.$$('dialog[open] input');
}

function isDisabled(page: Page): Promise<boolean> {
  return page.$eval('dialog[open] button[type=submit]', (button) => button.matches(':disabled'));
}

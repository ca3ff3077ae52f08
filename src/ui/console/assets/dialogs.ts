import { type Child, h, type Tree } from '../../../report/tree.ts';
import { patch } from '../../shared/patch.ts';
import type { Credentials } from './api.ts';
import { alertView, field, reasonField } from './view/components.ts';

/** The dialogs: forms that ask the operator, and the frame that shows a report. */

/**
 * Opens a dialog with a form and waits for the operator. `content`: The consequences, and the fields to fill in.
 * @returns Undefined after Escape or Cancel. The focus returns to the element that had it.
 */
export function openDialog({
  title,
  content,
  submitLabel,
  isDanger = false,
}: {
  readonly title: string;
  readonly content: readonly Child[];
  readonly submitLabel: string;
  readonly isDanger?: boolean;
}): Promise<FormData | undefined> {
  const dialog = createDialog('dialog-title', [
    h('form', { class: 'form', method: 'dialog' })(
      h('h2', { id: 'dialog-title' })(title),
      ...content,
      h('div', { class: 'row end' })(
        h('button', { type: 'button', class: 'quiet', 'data-cancel': true })('Cancel'),
        h('button', { type: 'submit', class: isDanger && 'danger' })(submitLabel),
      ),
    ),
  ]);
  return new Promise((resolve) => {
    let answer: FormData | undefined;
    dialog.addEventListener('submit', (event) => {
      event.preventDefault();
      if (event.target instanceof HTMLFormElement) answer = new FormData(event.target);
      dialog.close();
    });
    dialog.addEventListener('click', ({ target }) => {
      if (target instanceof Element && target.closest('[data-cancel]') !== null) dialog.close();
    });
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(answer);
    });
    dialog.showModal();
    const first = dialog.querySelector('input, select, textarea');
    if (first instanceof HTMLElement) first.focus();
  });
}

export function requiredReason(placeholder: string) {
  return reasonField(REASON, { required: true, pattern: '.*\\S.*', title: 'Say why.', placeholder });
}

export function optionalReason() {
  return reasonField(REASON);
}

const REASON = 'Reason, for the audit';

/** A field into which the operator types the name of the domain: one slip must not start such an action. */
export function domainField(domain: string) {
  return field(`Type ${domain} to go on`, {
    name: 'typed',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
    pattern: domain.replaceAll(/[^\w]/g, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`),
    title: `The name of the domain: ${domain}`,
  });
}

/** @returns Trimmed; empty where the field is missing. */
export function textIn(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** Undefined where the operator gives none. */
export function reasonIn(form: FormData): string | undefined {
  return textIn(form, 'reason') || undefined;
}

/** @param refused A token was given before, and it was wrong. */
export async function askCredentials(refused: boolean): Promise<Credentials | undefined> {
  const form = await openDialog({
    title: 'Admin token',
    submitLabel: 'Use it',
    content: [
      refused && alertView('That token was not accepted.'),
      h('p', { class: 'soft' })(
        'The value of ADMIN_TOKEN; of the demo, the text in data/admin-token. It stays in the memory of this page and is forgotten when you close or reload it.',
      ),
      field('Token', {
        name: 'token',
        type: 'password',
        required: true,
        autocomplete: 'off',
        spellcheck: 'false',
        pattern: '[!-~]+',
        title: 'A token has no spaces.',
      }),
      field('Your name, for the audit', {
        name: 'operator',
        maxlength: '64',
        autocomplete: 'off',
        pattern: '[ -~]*',
        title: 'Latin letters, digits and signs.',
      }),
    ],
  });
  if (form === undefined) return undefined;
  return { token: textIn(form, 'token'), operator: textIn(form, 'operator') };
}

/**
 * Shows a report, which is a page with styles of its own. It is fetched, because a link cannot carry the token, and
 * put into a frame that shows nothing else: there its styles apply and no script can run.
 */
export function showReport(id: string, html: string) {
  const file = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
  const dialog = createDialog('report-title', [
    h('div', { class: 'row between' })(
      h('h2', { id: 'report-title' })(`Report of ${id}`),
      h('div', { class: 'row' })(
        h('a', { class: 'button quiet', href: file, download: `${id}.html` })('Save'),
        h('button', { type: 'button' })('Close'),
      ),
    ),
  ]);
  dialog.className = 'report';
  const frame = document.createElement('iframe');
  frame.title = `Report of ${id}`;
  frame.setAttribute('sandbox', 'allow-same-origin');
  frame.src = '/ops/report';
  frame.addEventListener('load', () => writeReport(frame, html), { once: true });
  dialog.append(frame);
  dialog.querySelector('button')?.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    URL.revokeObjectURL(file);
    dialog.remove();
  });
  dialog.showModal();
}

function createDialog(titleId: string, content: readonly Tree[]) {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', titleId);
  patch(dialog, content);
  document.body.append(dialog);
  return dialog;
}

function writeReport(frame: HTMLIFrameElement, html: string) {
  const inside = frame.contentDocument;
  if (inside === null) return;
  // Parsed in the frame: a parser of this page would apply this page's policy to the report's styles.
  inside.open();
  inside.write(html);
  inside.close();
}

import { patch } from '../../page/assets/patch.mjs';
import { h } from '../../page/assets/view/tree.mjs';

/** @typedef {import('../../page/assets/view/tree.mjs').Child} Child */

/**
 * Asks a person. Escape and Cancel answer nothing; focus goes back to where it was.
 * @param {object} question
 * @param {string} question.title
 * @param {readonly Child[]} question.content What will happen, and what is to be filled in.
 * @param {string} question.go The name of the deed, on the button.
 * @param {boolean} [question.isDanger]
 * @returns {Promise<FormData | undefined>}
 */
export function askPerson({ title, content, go, isDanger = false }) {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'dialog-title');
  patch(dialog, [
    h(
      'form',
      { class: 'form', method: 'dialog' },
      h('h2', { id: 'dialog-title' }, title),
      ...content,
      h(
        'div',
        { class: 'row end' },
        h('button', { type: 'button', class: 'quiet', 'data-cancel': true }, 'Cancel'),
        h('button', { type: 'submit', class: isDanger && 'danger' }, go),
      ),
    ),
  ]);
  document.body.append(dialog);
  return new Promise((resolve) => {
    /** @type {FormData | undefined} */
    let answer;
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
    const field = dialog.querySelector('input, textarea');
    if (field instanceof HTMLElement) field.focus();
  });
}

/**
 * A reason nobody may leave out.
 * @param {string} placeholder
 */
export function reasonField(placeholder) {
  return h(
    'label',
    {},
    'Reason, for the audit',
    h('input', {
      name: 'reason',
      required: true,
      maxlength: '500',
      autocomplete: 'off',
      pattern: '.*\\S.*',
      title: 'Say why.',
      placeholder,
    }),
  );
}

/**
 * @param {FormData} form
 * @param {string} name
 * @returns {string} Trimmed; empty where there is none.
 */
export function textIn(form, name) {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

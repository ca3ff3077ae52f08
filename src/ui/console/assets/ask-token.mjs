import { h } from '../../page/assets/view/tree.mjs';
import { askPerson, textIn } from './dialog.mjs';

/**
 * @param {boolean} refused One was given, and was not the right one.
 * @returns {Promise<import('./data/access.mjs').Pass | undefined>}
 */
export async function askToken(refused) {
  const form = await askPerson({
    title: 'Admin token',
    go: 'Use it',
    content: [
      refused && h('p', { class: 'notice bad', role: 'alert' }, 'That token was not accepted.'),
      h(
        'p',
        { class: 'soft' },
        'The value of ADMIN_TOKEN. It stays in the memory of this page and is forgotten when you close or reload it.',
      ),
      h(
        'label',
        {},
        'Token',
        h('input', {
          name: 'token',
          type: 'password',
          required: true,
          autocomplete: 'off',
          spellcheck: 'false',
          pattern: '[!-~]+',
          title: 'A token has no spaces.',
        }),
      ),
      h(
        'label',
        {},
        'Your name, for the audit',
        h('input', {
          name: 'operator',
          maxlength: '64',
          autocomplete: 'off',
          pattern: '[ -~]*',
          title: 'Latin letters, digits and signs.',
        }),
      ),
    ],
  });
  if (form === undefined) return undefined;
  return { token: textIn(form, 'token'), operator: textIn(form, 'operator') };
}

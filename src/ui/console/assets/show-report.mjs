import { patch } from '../../page/assets/patch.mjs';
import { h } from '../../page/assets/view/tree.mjs';

/**
 * A report is a page of its own, with styles of its own. It comes by fetch, because a link could not carry the token, and
 * is put into a frame that serves nothing else: there its styles apply and nothing in it can run.
 * @param {string} id
 * @param {string} html
 */
export function showReport(id, html) {
  const dialog = document.createElement('dialog');
  dialog.className = 'report';
  dialog.setAttribute('aria-labelledby', 'report-title');
  const file = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
  patch(dialog, [
    h(
      'div',
      { class: 'row spread' },
      h('h2', { id: 'report-title' }, `Report of ${id}`),
      h(
        'div',
        { class: 'row' },
        h('a', { class: 'button quiet', href: file, download: `${id}.html` }, 'Save'),
        h('button', { type: 'button' }, 'Close'),
      ),
    ),
  ]);
  const frame = document.createElement('iframe');
  frame.title = `Report of ${id}`;
  frame.setAttribute('sandbox', 'allow-same-origin');
  frame.src = '/ops/report';
  frame.addEventListener('load', () => fill(frame, html), { once: true });
  dialog.append(frame);
  dialog.querySelector('button')?.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    URL.revokeObjectURL(file);
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * @param {HTMLIFrameElement} frame
 * @param {string} html
 */
function fill(frame, html) {
  const inside = frame.contentDocument;
  if (inside === null) return;
  // Parsed there and not here: a parser of this page would judge the report's styles by this page's policy.
  inside.open();
  inside.write(html);
  inside.close();
}

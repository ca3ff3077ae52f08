/** @returns {string | undefined} What marks the focused element across answers. */
export function focusedKey() {
  const focused = document.activeElement;
  return focused?.getAttribute('data-focus') ?? (focused?.id || undefined);
}

/**
 * An element that moved in the document lost its focus on the way; one that is gone leaves it to the heading, so that
 * the next Tab goes on from the results and not from the top of the page.
 * @param {Element} root
 * @param {string | undefined} key
 */
export function restoreFocus(root, key) {
  if (document.activeElement !== null && document.activeElement !== document.body) return;
  if (key === undefined) return;
  const same = [...root.querySelectorAll('[data-focus], [id]')].find(
    (element) => (element.getAttribute('data-focus') ?? element.id) === key,
  );
  const target = same ?? root.querySelector('h1');
  if (target instanceof HTMLElement) target.focus({ preventScroll: true });
}

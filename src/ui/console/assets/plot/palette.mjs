/** Colours by the names the style sheets give them. A canvas knows no custom properties, so they are read for it. */
const NAMES = /** @type {const} */ ([
  'ink',
  'soft',
  'line',
  'ground',
  'memory',
  'store',
  'stale',
  'collapsed',
  'engine',
  'lifeboat',
  'shed',
  'failed',
  'other',
  'accent',
  'drilled',
]);
/** @typedef {typeof NAMES[number]} Colour */
/** @typedef {(name: Colour, alpha?: string) => string} Palette `alpha`: two hexadecimal digits. */

/** @returns {{ readonly colour: Palette, readonly reread: () => void }} */
export function createPalette() {
  /** @type {Map<Colour, string>} */
  const known = new Map();
  const reread = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of NAMES) known.set(name, style.getPropertyValue(`--${name}`).trim());
  };
  reread();
  return { colour: (name, alpha = '') => `${known.get(name) ?? '#888888'}${alpha}`, reread };
}

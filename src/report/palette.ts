/** A colour for a light background and one for a dark background. */
export type Ink = ReturnType<typeof ink>;

const ink = (light: string, dark: string) => ({ light, dark });

/** Text: contrast of at least 4.5 : 1 on both backgrounds, the page's and the raised one. */
export const TEXT = {
  ink: ink('#1d1f21', '#e6e4df'),
  soft: ink('#5c5f63', '#a9abad'),
  good: ink('#17713a', '#5fcf87'),
  warn: ink('#8a4b00', '#f0b765'),
  bad: ink('#b3261e', '#ff8f85'),
  open: ink('#1a5fa0', '#7dbdf5'),
} as const satisfies Readonly<Record<string, Ink>>;

export const GROUND = {
  ground: ink('#fcfbf9', '#16181a'),
  raised: ink('#ffffff', '#1e2124'),
  line: ink('#dedad2', '#32363a'),
  stage: ink('#f3e7d3', '#33291a'),
  'stage-odd': ink('#ecdcc0', '#403320'),
  calm: ink('#f2f1ed', '#1f2326'),
  recovery: ink('#e3eef2', '#1b2b33'),
  hold: ink('#f6e0dc', '#3a2422'),
} as const satisfies Readonly<Record<string, Ink>>;

/** In addition, for the search page and the console. */
export const PAGE_INKS = {
  sunken: ink('#f2f0eb', '#22262a'),
  edge: ink('#8b877e', '#767a7e'),
  accent: ink('#0b5e58', '#74cdc2'),
  'on-accent': ink('#ffffff', '#10201e'),
  wash: ink('#e2f0ee', '#1d3533'),
  mark: ink('#fdeeb0', '#54470f'),
  'on-mark': ink('#1d1f21', '#fff2c2'),
  'warn-wash': ink('#fdf3e2', '#2f2718'),
  'bad-wash': ink('#fdecea', '#3a1d1a'),
  'on-bad': ink('#ffffff', '#2a0d0a'),
  drill: ink('#8b5fb0', '#c4a0e4'),
  memory: ink('#17803d', '#55c97c'),
  store: ink('#1f6fb5', '#6cb3f2'),
  engine: ink('#b26a00', '#eba94a'),
  stale: ink('#8b5fb0', '#c4a0e4'),
} as const satisfies Readonly<Record<string, Ink>>;

/** Stacked areas, from the bottom up. Neighbours differ in lightness, so that they are distinct without their hue. */
export const AREA_INKS = {
  'hit-l1': ink('#1b6b3a', '#2f9a5a'),
  'hit-l2': ink('#4a93d1', '#8cc4f4'),
  stale: ink('#6a3d9a', '#8a5fc7'),
  collapsed: ink('#8090a7', '#bdbaba'),
  engine: ink('#9a5200', '#c9821f'),
  lifeboat: ink('#3b9d89', '#73ede8'),
  shed: ink('#8f1f66', '#b8508f'),
  failed: ink('#e0484d', '#ff9a94'),
  unanswered: ink('#3a3d42', '#f4f2ee'),
} as const satisfies Readonly<Record<string, Ink>>;

/** Lines: contrast of at least 3 : 1 on every band that they cross. */
export const LINE_INKS = {
  flushed: ink('#a84300', '#ffa95c'),
  control: ink('#1a5fa0', '#7dbdf5'),
  engine: ink('#a84300', '#ffa95c'),
  limit: ink('#5c5f63', '#a9abad'),
  ceiling: ink('#1d1f21', '#e6e4df'),
  queued: ink('#6a3d9a', '#c4a0e4'),
  p99: ink('#6a3d9a', '#c4a0e4'),
  p50: ink('#0f6e68', '#6ad5cb'),
  guarded: ink('#1a5fa0', '#7dbdf5'),
  broken: ink('#b3261e', '#ff8f85'),
  noted: ink('#8a4b00', '#f0b765'),
  restored: ink('#1d1f21', '#e6e4df'),
  recovered: ink('#17713a', '#5fcf87'),
} as const satisfies Readonly<Record<string, Ink>>;

/** Black or white, whichever has more contrast; one of the two always has at least 4.5 : 1. */
export function readableOn(colour: string): string {
  const luminance = luminanceOf(colour);
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? '#000000' : '#ffffff';
}

/** Relative luminance of `#rrggbb`, as WCAG 2 defines it. */
export function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

import { luminanceOf } from '../../src/report/palette.ts';

/** WCAG 2 contrast of two colours, 1–21. */
export function contrastOf(a: string, b: string): number {
  const [low = 0, high = 0] = [luminanceOf(a), luminanceOf(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

export type Sight = 'usual' | 'no red' | 'no green' | 'no hue';

/** Linear RGB for a person without long or middle cones (Viénot, Brettel, Mollon 1999), or without any hue. */
const SEEN: Readonly<Record<Sight, readonly (readonly [number, number, number])[]>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  'no red': [
    [0.112_38, 0.887_62, 0],
    [0.112_38, 0.887_62, 0],
    [0.004, -0.004, 1],
  ],
  'no green': [
    [0.292_75, 0.707_25, 0],
    [0.292_75, 0.707_25, 0],
    [-0.022_34, 0.022_34, 1],
  ],
  'no hue': [
    [0.2126, 0.7152, 0.0722],
    [0.2126, 0.7152, 0.0722],
    [0.2126, 0.7152, 0.0722],
  ],
};

/** CIE76 distance in L*a*b*: 2 is just visible side by side, 10 at a glance. */
export function distanceOf(a: string, b: string, sight: Sight): number {
  const [from, to] = [labOf(a, sight), labOf(b, sight)];
  return Math.hypot(...from.map((value, i) => value - (to[i] ?? 0)));
}

function labOf(colour: string, sight: Sight): readonly number[] {
  const linear = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const [r = 0, g = 0, b = 0] = SEEN[sight].map((row) =>
    row.reduce((sum, part, i) => sum + part * (linear[i] ?? 0), 0),
  );
  const white = [0.950_47, 1, 1.088_83];
  const xyz = [
    0.4124 * r + 0.3576 * g + 0.1805 * b,
    0.2126 * r + 0.7152 * g + 0.0722 * b,
    0.0193 * r + 0.1192 * g + 0.9505 * b,
  ];
  const [x = 0, y = 0, z = 0] = xyz.map((value, i) => {
    const share = value / (white[i] ?? 1);
    return share > 0.008_856 ? Math.cbrt(share) : 7.787 * share + 16 / 116;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

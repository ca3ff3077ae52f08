import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AREA_INKS, GROUND, LINE_INKS, luminanceOf, readableOn, TEXT } from '../../src/report/palette.ts';

const SIDES = ['light', 'dark'] as const;

test('every text is readable on every background of the page and of the plots', () => {
  for (const side of SIDES) {
    for (const [name, ink] of Object.entries(TEXT)) {
      const grounds = name === 'ink' ? Object.keys(GROUND) : ['ground', 'raised'];
      for (const ground of grounds.filter((one) => one !== 'line')) {
        const ratio = contrastOf(ink[side], GROUND[ground as keyof typeof GROUND][side]);
        assert.ok(ratio >= 4.5, `${name} on ${ground}, ${side}: ${ratio.toFixed(2)}`);
      }
    }
  }
});

test('every line stands out from every band it crosses', () => {
  for (const side of SIDES) {
    for (const [name, ink] of Object.entries(LINE_INKS)) {
      for (const [ground, colour] of Object.entries(GROUND)) {
        const ratio = contrastOf(ink[side], colour[side]);
        if (ground !== 'line') assert.ok(ratio >= 3, `${name} on ${ground}, ${side}: ${ratio.toFixed(2)}`);
      }
    }
  }
});

test('every area stands out from the page, and its name can be read on it', () => {
  for (const side of SIDES) {
    for (const [name, ink] of Object.entries(AREA_INKS)) {
      const ratio = contrastOf(ink[side], GROUND.ground[side]);
      assert.ok(ratio >= 3, `${name}, ${side}: ${ratio.toFixed(2)}`);
      assert.ok(contrastOf(ink[side], readableOn(ink[side])) >= 4.5, `a name on ${name}, ${side}`);
    }
  }
});

test('adjacent areas are distinct without red, without green, and without any hue', () => {
  for (const side of SIDES) {
    const areas = Object.entries(AREA_INKS);
    for (const [i, [name, ink]] of areas.entries()) {
      // An outcome that did not occur has no area, so areas that are not neighbours in the list may touch.
      for (const [other, next] of areas.slice(i + 1, i + 3)) {
        const isNext = areas[i + 1]?.[0] === other;
        for (const sight of ['usual', 'no red', 'no green', ...(isNext ? (['no hue'] as const) : [])] as const) {
          const distance = distanceOf(ink[side], next[side], sight);
          assert.ok(distance >= 12, `${name} beside ${other}, ${side}, ${sight}: ${distance.toFixed(1)}`);
        }
      }
    }
  }
});

/** WCAG 2 contrast of two colours, 1–21. */
function contrastOf(a: string, b: string): number {
  const [low = 0, high = 0] = [luminanceOf(a), luminanceOf(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

type Sight = 'usual' | 'no red' | 'no green' | 'no hue';

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
function distanceOf(a: string, b: string, sight: Sight): number {
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

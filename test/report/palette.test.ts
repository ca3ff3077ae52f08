import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AREA_INKS, GROUND, LINE_INKS, readableOn, TEXT } from '../../src/report/palette.ts';
import { contrastOf, distanceOf } from './contrast-of.ts';

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

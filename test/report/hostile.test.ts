import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reportPage } from '../../src/operations/drills/report/report-page.ts';
import { said } from '../../src/report/components.ts';
import { toHtml } from '../../src/report/html.ts';
import { type Child, h, TreeElement } from '../../src/report/tree.ts';
import { eachPlace, HOSTILE_VALUES, partsOf } from '../fakes/hostile.ts';
import { journalOf } from '../fakes/journal.ts';
import { markupFaults } from './well-formed.ts';

describe('a hostile value in a report becomes text', () => {
  for (const [name, value] of HOSTILE_VALUES) {
    it(`${name}, as content and as an attribute`, () => {
      // Parsed JSON may have any type, whatever its static type says.
      const content = value as Child;
      const markup = toHtml(h('p', { title: value as string })(content, said(value as string), [[content]]));
      assert.deepEqual(
        [...partsOf(markup)].filter((part) => !/^(?:p|bdi|p title)$/.test(part)),
        [],
      );
    });
  }

  it('and only objects made by `h` are elements', () => {
    assert.equal(TreeElement.is(h('p')()), true);
    for (const [, value] of HOSTILE_VALUES) assert.equal(TreeElement.is(value), false);
  });

  it('and so do nested lists of any depth', () => {
    const deep = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) as Child;
    assert.match(toHtml(h('p')(deep)), /^<p>[[\]…]*<\/p>$/);
  });

  it('in every text of the journal of a drill', () => {
    const journal = journalOf({ reason: 'why', domains: ['goods'] });
    const small = { ...journal, samples: journal.samples.filter((_, i) => i % 20 === 0) };
    const ours = partsOf(reportPage(small));
    const texts = HOSTILE_VALUES.filter(([, value]) => typeof value === 'string' || Array.isArray(value));
    let turn = 0;
    for (const [path, put] of eachPlace(small)) {
      if (!/(?:title|detail|why|reason|by|owner|node|name|endpoint)$/.test(path)) continue;
      turn += 1;
      const [name, value] = texts[turn % texts.length] ?? assert.fail();
      const page = reportPage(put(value));
      assert.deepEqual(
        [...partsOf(page)].filter((part) => !ours.has(part)),
        [],
        `${path}: ${name}`,
      );
      assert.deepEqual(markupFaults(page), [], `${path}: ${name}`);
    }
    assert.ok(turn > 5, String(turn));
  });
});

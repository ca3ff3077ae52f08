import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DOCTOR_ACTIONS, perform } from '../../../src/ui/console/assets/actions.mjs';
import type { DoctorLook, DoctorReport, Finding } from '../../../src/ui/console/assets/api.mjs';
import { feedsFor } from '../../../src/ui/console/assets/feeds.mjs';
import { addressFrom, type Model } from '../../../src/ui/console/assets/model.mjs';
import { doctorView } from '../../../src/ui/console/assets/view/doctor.mjs';
import { announcementsOf, pageView, titleOf } from '../../../src/ui/console/assets/view/page.mjs';
import { toHtml } from '../../../src/ui/shared/html.ts';
import { h } from '../../../src/ui/shared/tree.mjs';
import { createFakeClock } from '../../fakes/clock.ts';
import { createFakeOperations } from '../../fakes/operations.ts';

const clock = createFakeClock();
const operations = createFakeOperations({ clock });
const { report } = await operations.doctor.examine();
const standing = operations.doctor.standing() ?? assert.fail();
const history = operations.doctor.history();
const live = { atMs: clock.wallMs(), domains: operations.watch().look(), drills: [] };

const modelOf = (doctor: DoctorLook | undefined, changes: Partial<Model> = {}): Model => ({
  address: addressFrom('#/goods/doctor'),
  connection: { kind: 'live' },
  ...{ receivedMs: 0, nowMs: 0, hasToken: true, readOnly: false, feedback: {}, busy: [], live },
  feeds: doctor === undefined ? {} : { doctor: { path: '/admin/doctor', value: doctor, receivedMs: 0 } },
  ...changes,
});
const examined = (changes: Partial<DoctorReport> = {}): Model =>
  modelOf({ standing, history }, { examination: { report: { ...report, ...changes } } });
const htmlOf = (model: Model): string => toHtml(h('div', {}, doctorView(model)));
const wordsIn = (html: string): string => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/[\s\u00a0]+/g, ' ');
const words = (model: Model): string => wordsIn(htmlOf(model));
/** The panel with this id. */
const panelIn = (model: Model, id: string): string =>
  htmlOf(model)
    .split('<section')
    .find((part) => part.includes(`data-key="${id}"`)) ?? assert.fail();
/** The tab of the doctor, as words. */
const tabOf = (model: Model): string => {
  const [, tab = assert.fail()] =
    /<a href="#\/goods\/doctor"[^>]*>(.*?)<\/a>/.exec(toHtml(h('div', {}, pageView(model)))) ?? [];
  return wordsIn(tab).trim();
};
const withCounts = (critical: number, warning: number): Model =>
  modelOf({ standing: { ...standing, counts: { critical, warning, info: 9 } }, history: [] });

describe('the doctor view', () => {
  it('shows each finding with its evidence, rule, reason, advice and source, in the order of the report', () => {
    const cards = panelIn(examined(), 'examination').split('<article').slice(1);
    assert.ok(report.findings.length > 1);
    for (const [index, finding] of report.findings.entries()) {
      const { title, subject, evidence, seen, threshold, why, advice, source } = finding;
      const text = wordsIn(toHtml(h('p', {}, cards[index]))).replaceAll(/&(?:amp;)?lt;[^&]*&(?:amp;)?gt;/g, ' ');
      for (const said of [title, subject, evidence, seen, threshold, why, source]) {
        const shown = wordsIn(toHtml(h('p', {}, toHtml(h('p', {}, said))))).trim();
        assert.ok(
          text.replaceAll(/\s+/g, ' ').includes(shown.replaceAll(/&lt;\/?p&gt;/g, '')),
          `${finding.check}: ${said}`,
        );
      }
      assert.equal(cards[index]?.split('<pre>').length, advice.length + 1);
    }
  });
});

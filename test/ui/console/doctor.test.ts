import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Report as DoctorReport, Finding } from '../../../src/operations/doctor/report.ts';
import { toHtml } from '../../../src/report/html.ts';
import { h } from '../../../src/report/tree.ts';
import { DOCTOR_ACTIONS, perform } from '../../../src/ui/console/assets/actions.ts';
import type { DoctorLook } from '../../../src/ui/console/assets/api.ts';
import { feedsFor } from '../../../src/ui/console/assets/feeds.ts';
import type { Model } from '../../../src/ui/console/assets/model.ts';
import { doctorView } from '../../../src/ui/console/assets/view/doctor.ts';
import { announcementsOf, consoleView, tabTitle } from '../../../src/ui/console/assets/view/page.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { createFakeOperations } from '../../fakes/operations.ts';
import { consoleModel, feed, wordsIn } from './harness.ts';

const clock = createFakeClock();
const operations = createFakeOperations({ clock });
const { report } = await operations.doctor.examine();
const standing = operations.doctor.standing() ?? assert.fail();
const history = operations.doctor.history();
const live = { atMs: clock.wallMs(), domains: operations.watch().look(), drills: [] };

const modelOf = (doctor: DoctorLook | undefined, changes: Partial<Model> = {}): Model =>
  consoleModel('#/goods/doctor', { live, feeds: { doctor: doctor && feed(doctor) }, ...changes });
const examined = (changes: Partial<DoctorReport> = {}): Model =>
  modelOf({ standing, history }, { examination: { report: { ...report, ...changes } } });
const htmlOf = (model: Model): string => toHtml(h('div')(doctorView(model)));
const words = (model: Model): string => wordsIn(htmlOf(model));
/** The panel with this id. */
const panelIn = (model: Model, id: string): string =>
  htmlOf(model)
    .split('<section')
    .find((part) => part.includes(`data-key="${id}"`)) ?? assert.fail();
/** The tab of the doctor, as words. */
const tabOf = (model: Model): string => {
  const [, tab = assert.fail()] =
    /<a href="#\/goods\/doctor"[^>]*>(.*?)<\/a>/.exec(toHtml(h('div')(consoleView(model)))) ?? [];
  return wordsIn(tab).trim();
};
const withCounts = (critical: number, warning: number): Model =>
  modelOf({ standing: { ...standing, counts: { critical, warning, info: 9 } }, history: [] });

describe('the doctor view', () => {
  it('shows each finding with its evidence, rule, reason, advice and source, in the order of the report', () => {
    const cards = panelIn(examined({ acknowledged: [] }), 'examination')
      .split('<article')
      .slice(1);
    assert.ok(report.findings.length > 1);
    assert.equal(cards.length, report.findings.length);
    for (const [index, { check, severity, advice, ...finding }] of report.findings.entries()) {
      const text = wordsIn(`<article${cards[index]}`);
      const { title, subject, evidence, seen, threshold, why, source } = finding;
      for (const said of [check, severity, title, subject, evidence, seen, threshold, why, source, ...advice])
        assert.ok(text.includes(wordsIn(said)), `${check}: ${said}`);
      assert.equal(cards[index]?.split('<pre>').length, advice.length + 1, 'each advice is a text of its own');
    }
  });

  it('counts the findings by severity, and accepted ones apart and collapsed', () => {
    const accepted = report.acknowledged[0] ?? assert.fail();
    assert.match(words(examined()), /2 warnings 1 acknowledged/);
    const details =
      panelIn(examined(), 'examination')
        .split('<details')
        .find((part) => part.includes('data-key="acknowledged-report"')) ?? assert.fail();
    assert.doesNotMatch(details, /^[^>]* open/);
    const text = wordsIn(`<details${details}`);
    assert.match(text, /^ 1 finding acknowledged .* accepted until 2099-12-31: a warm start is wanted here/);
    assert.ok(text.includes(wordsIn(accepted.evidence)));
    const info: Finding = { ...accepted, severity: 'info' };
    assert.match(words(examined({ findings: [info], acknowledged: [] })), /healthy 1 info/);
  });

  it('tells which checks were skipped and why, what was looked at, and which hosts nobody saw', () => {
    const text = words(examined({ remarks: ['The file of acknowledgements cannot be read.'] }));
    assert.match(text, /\d+ checks skipped/);
    assert.match(text, /2 checks are skipped on 10\.0\.0\.7:6379 \(store of goods\): CLIENT LIST is refused: NOPERM/);
    assert.match(
      text,
      /What was looked at store of goods: standalone, 10\.0\.0\.7:6379 engine of goods: 127\.0\.0\.1:9306/,
    );
    assert.match(text, /Not looked at: the kernel, network and disks of 10\.0\.0\.7; there: serpcache doctor --host/);
    assert.match(text, /\d+ checks made, \d+ fine, 3 windows of 1 s/);
    assert.match(text, /The file of acknowledgements cannot be read\./);
  });

  it('shows the standing findings in full until an examination repeats them', () => {
    const alone = modelOf({ standing, history });
    const details = 'data-key="standing-cards"';
    assert.equal(panelIn(alone, 'standing').split('<article').length - 1, standing.findings.length);
    assert.ok(!panelIn(alone, 'standing').includes(details));
    assert.ok(panelIn(examined(), 'standing').includes(details));
  });

  it('says that nothing is known before the first window', () => {
    assert.match(words(modelOf(undefined)), /Examine now .* Reading…/);
    assert.match(words(modelOf({ history: [] })), /None yet: .* Nothing since this process started\./);
  });

  it('lists what was raised and cleared, newest first', () => {
    const [line = assert.fail()] = history;
    const cleared = { ...line, change: 'cleared', evidence: 'It is gone.' } as const;
    const text = wordsIn(panelIn(modelOf({ history: [line, cleared] }), 'doctor-history'));
    assert.match(text, /cleared critical store-memory-full .* It is gone\. .* raised critical store-memory-full/);
  });

  it('shows a report of another version as far as it can be read', () => {
    const [first = assert.fail(), second = assert.fail()] = report.findings;
    const strange = { ...first, severity: 'fatal', advice: 7 } as never;
    const text = words(examined({ findings: [strange, second] }));
    assert.match(text, /This cannot be shown/);
    assert.ok(text.includes(wordsIn(second.evidence)));
  });
});

describe('the tab of the doctor', () => {
  it('counts findings above info, on every view, and shows no count while there is none', () => {
    assert.equal(tabOf(withCounts(0, 0)), 'Doctor');
    assert.equal(tabOf(withCounts(0, 1)), 'Doctor 1 finding');
    assert.equal(tabOf({ ...withCounts(1, 2), address: { domain: 'goods', view: 'live' } }), 'Doctor 3 findings');
    assert.equal(tabOf(modelOf(undefined)), 'Doctor');
    for (const view of ['live', 'drills', 'doctor', 'audit'])
      assert.ok(feedsFor(consoleModel(`#/goods/${view}`, { live })).some(({ name }) => name === 'doctor'));
  });

  it('a critical finding is in the title of the browser’s tab, and a changed count is announced', () => {
    assert.match(tabTitle(withCounts(2, 1)), /2 critical findings · serpcache/);
    assert.doesNotMatch(tabTitle(withCounts(0, 1)), /finding/);
    assert.equal(announcementsOf(withCounts(2, 1)).get('doctor'), 'The doctor has 3 findings above info.');
    assert.equal(announcementsOf(modelOf(undefined)).get('doctor'), undefined);
  });
});

describe('an examination', () => {
  /** A console whose examinations end when the test says so. */
  const examining = (changes: Partial<Model> = {}) => {
    let model = modelOf({ standing, history }, changes);
    const asked: string[] = [];
    const refreshed: string[] = [];
    const answer = Promise.withResolvers<unknown>();
    const refuse = () => Promise.reject(new Error('not used'));
    const context = {
      model: () => model,
      set: (part: Partial<Model>) => {
        model = { ...model, ...part };
      },
      api: {
        get: refuse,
        post: refuse,
        text: refuse,
        open: refuse,
        ask: (path: string) => {
          asked.push(path);
          return answer.promise as never;
        },
      },
      refresh: (...names: readonly string[]) => void refreshed.push(...names),
      watch: () => {},
      focus: () => {},
    };
    const request = { domain: 'goods', id: '', form: new FormData(), clear: () => {} };
    const press = () => perform(context, DOCTOR_ACTIONS, 'examine', request);
    return { press, answer, asked, refreshed, model: () => model };
  };

  it('shows its progress, is not started twice, and leaves its report on the page', async () => {
    const { press, answer, asked, refreshed, model } = examining();
    const [first, second] = [press(), press()];
    assert.match(htmlOf(model()), /aria-disabled="true"[^>]*>Examining…<\/button><progress/);
    answer.resolve({ report });
    await Promise.all([first, second]);
    assert.deepEqual(asked, ['/admin/doctor/examination']);
    assert.deepEqual(refreshed, ['doctor']);
    assert.match(htmlOf(model()), /data-action="examine">Examine now<\/button>/);
    assert.doesNotMatch(htmlOf(model()), /<progress/);
    assert.ok(words(model()).includes(wordsIn(report.findings[0]?.evidence ?? assert.fail())));
  });

  it('is made by a console that may change nothing, and a failure keeps the report before it', async () => {
    const { press, answer, model } = examining({ readOnly: true, examination: { report } });
    const pressed = press();
    answer.reject(new TypeError('fetch failed'));
    await pressed;
    assert.match(words(model()), /The service cannot be reached\. .* very large values/);
  });
});

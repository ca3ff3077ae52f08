import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { journalText } from '../../../../src/commands/drill-inspect.ts';
import type { Journal } from '../../../../src/operations/drills/journal.ts';
import { reportPage } from '../../../../src/operations/drills/report/report-page.ts';
import {
  drillVerdict,
  MEANINGS,
  markOf,
  modeText,
  stateText,
  survivalFigures,
} from '../../../../src/operations/drills/view.ts';
import { toHtml } from '../../../../src/report/html.ts';
import { h } from '../../../../src/report/tree.ts';
import { consoleAddress, type Model } from '../../../../src/ui/console/assets/model.ts';
import { drillsView } from '../../../../src/ui/console/assets/view/drills.ts';
import { journalOf, SCENES, STAGED } from '../../../fakes/journal.ts';
import { testPage, textOf } from '../../../report/page-tests.ts';
import { markupFaults } from '../../../report/well-formed.ts';
import { anyJournal } from './arbitrary-journal.ts';

const FOREIGN = /https?:|\/\/[a-z]|<script|<iframe|<img|@import|url\(|javascript:|\son[a-z]+=/i;
const HOSTILE = `</title></style><script>alert(1)</script>" onload="x" '<img src=x>&amp;\u0000\u202e\ud800]]>`;

const SURVIVAL = {
  headroom: { low: 12 },
  headroomLeft: { low: 1.8, high: 2.4 },
  amplification: { low: 6.1, high: 6.5 },
  survivable: { low: 0.21, high: 0.28 },
} as const;

function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** The view of a drill that is over in the console, as HTML. */
function onConsole(journal: Journal): string {
  const model: Model = {
    address: consoleAddress('#/goods/drills'),
    connection: { kind: 'live' },
    receivedMs: 0,
    nowMs: 0,
    hasToken: true,
    readOnly: false,
    feedback: {},
    busy: [],
    watched: journal.id,
    feeds: { journal: { path: '', value: { ...journal, nextSample: 0, emptyReads: 0 } } },
  };
  return `<body>${toHtml(h('main')(drillsView(model)))}`;
}

suite('the report of any drill', () => {
  for (const [name, scene] of Object.entries(SCENES)) {
    testPage(name, reportPage(scene()), { maxBytes: 300 * 1024, foreign: FOREIGN });
  }
});

test('every stage is named, in the tables and in the strips of the plots', () => {
  const text = textOf(reportPage(journalOf()));
  for (const title of ['Stage 1: 1 % of the keys', 'Stage 2: 5 %', 'Stage 3: 25 %', 'Stage 4: 100 %']) {
    assert.ok(text.includes(title), title);
  }
});

test('outcomes are drawn as searches per second, for any interval of the samples', () => {
  const words =
    /searches per second<\/title>.*?<text[^>]*>nothing|Outcomes, searches per second<\/h4>.*?<svg class="values"[^>]*>(.*?)<\/svg>/;
  const axis = words
    .exec(reportPage(journalOf({ end: { atMs: 60_000 } })))?.[1]
    ?.replaceAll(/<[^>]*>/g, ' ')
    .trim()
    .split(/\s+/);
  assert.deepEqual(axis, ['0/s', '200/s', '400/s', '600/s', '800/s', 'min:s']);
});

test('the plots are also given as figures, with a row for each phase and stage', () => {
  const text = textOf(reportPage(journalOf()));
  const rows = text.slice(text.indexOf('In flight, most'), text.indexOf('What the dry run said'));
  const phases = [
    'baseline +0:00.0 min 30 s',
    '1 % +0:30.0 min 40 s',
    '5 % +1:10.0 min 40 s',
    '25 % +1:50.0 min 40 s',
    '100 % +2:30.0 min 40 s',
  ];
  for (const row of [...phases, 'recovery +3:10.0 min 15 s', 'after +3:25.0 min 20 s'])
    assert.ok(rows.includes(row), `${row} in ${rows}`);
});

test('the verdict is a word and a sentence, not a colour alone', () => {
  const words = Object.entries(SCENES).map(([name, scene]) => {
    return [name, /class="verdict [a-z]+">.*?<strong>([^<]*)<\/strong> <bdi>[^<]{20,}/.exec(reportPage(scene()))?.[1]];
  });
  const { passed, ...ends } = Object.fromEntries(words);
  assert.equal(passed, 'Passed');
  assert.deepEqual(
    [ends['aborted-at-100'], ends['failed-by-guard'], ends['lost'], ends['refused'], ends['running']],
    ['Aborted', 'Failed', 'Lost', 'Refused', 'Running'],
  );
});

test('the conclusions are shown with their figures, beside those of the dry run', () => {
  const journal = journalOf();
  const [learned] = journal.learned;
  const text = textOf(
    reportPage({
      ...journal,
      learned: learned === undefined ? [] : [{ ...learned, survival: SURVIVAL }],
    }),
  );
  assert.match(
    text,
    /Headroom left \(H\) 1\.8–2\.4 × 9\.8 × before At the worst moment the engine could have done 1\.8–2\.4 × what it was asked; before, over 12 ×\./,
  );
  assert.match(
    text,
    /Survivable at once \(f\*\) 21–28 % 85 % at least By these figures 21–28 % of the keys .* This drill flushed 100 %/,
  );
  assert.match(
    text,
    /Amplification \(A\) 6\.1–6\.5 × 11\.4 × at most The engine was asked up to \d+\/s over 2 s, against [\d.]+\/s in the baseline\. With nothing cached that would be 6\.1–6\.5 ×/,
  );
});

test('the page, the console and the terminal show the same figures, each with its meaning', () => {
  const journal = journalOf();
  const [first] = journal.learned;
  const learned = first === undefined ? [] : [{ ...first, survival: SURVIVAL }];
  const html = reportPage({ ...journal, learned });
  const terminal = journalText({ ...journal, learned });
  const console = textOf(onConsole({ ...journal, learned }));
  const [one] = learned;
  const figures = Object.values(survivalFigures(one)).map(({ text }) => plain(text));
  assert.deepEqual(figures, ['1.8–2.4 ×', '6.1–6.5 ×', '21–28 %']);
  const little = one === undefined ? undefined : survivalFigures({ ...one, survival: {} });
  assert.equal(little?.survivable.text, 'too little load to say');
  for (const figure of figures) {
    assert.ok(plain(terminal).includes(figure), `${figure} in ${terminal}`);
    assert.ok(console.includes(figure), `${figure} in ${console}`);
    assert.ok(textOf(html).includes(figure), figure);
  }
  for (const meaning of [/title="H: /, /title="A: /, /title="f\* = /]) assert.match(html, meaning);
});

test('when too little was measured, sentence and table say so, and an old journal is still rendered', () => {
  const journal = journalOf();
  const learnedWith = (survival: object) => journal.learned.map(({ survival: _, ...one }) => ({ ...one, ...survival }));
  const little = textOf(reportPage({ ...journal, learned: learnedWith({ survival: {} }) }));
  assert.match(
    little,
    /Survivable at once \(f\*\) too little load to say .* Too little load to say how much of the cache/,
  );
  const old = { headroomLeft: 2.13, amplification: 6.27, survivable: 0.243 };
  const page = textOf(reportPage({ ...journal, learned: learnedWith(old) }));
  assert.match(page, /Survivable at once \(f\*\) – .* of an older version/);
  assert.doesNotMatch(page, /24\.3/);
});

test('a drill that is rolled back is not shown as running', () => {
  const { verdict: _, ...journal } = journalOf();
  const ended = { kind: 'aborted', detail: 'Aborted by ana: enough.' } as const;
  const page = textOf(reportPage({ ...journal, state: { kind: 'ending', ended } }));
  assert.match(page, /Aborted Aborted by ana: enough\. The cache is restored; the last figures are being taken\./);
  assert.doesNotMatch(page, /Running/);
});

test('a guard that ended the drill is shown with its time, and with the time until the cache was restored', () => {
  const text = textOf(reportPage(SCENES['failed-by-guard']?.() ?? journalOf()));
  assert.match(text, /Shed searches: 5 %, for 2 s 0 % 19\.\d % 0 % rollback ✕ broken at \+2:33\.5/);
  assert.match(text, /Restored \+2:33\.9 min, 400 ms after the guard broke/);
  assert.match(text, /Can be resumed with Stage 4: 100 % of goods/);
});

test('a drill refused at its baseline says which guard did not hold', () => {
  const text = textOf(reportPage(SCENES['refused']?.() ?? journalOf()));
  assert.match(text, /p99 of searches: 800 ms, for 4 s 9\d\d ms – – rollback ✕ did not hold before/);
  assert.match(text, /nothing – No stage was begun: the cache was never touched/);
});

test('texts of operators and of the plan are shown as text', () => {
  const plan = {
    ...STAGED,
    name: HOSTILE,
    title: HOSTILE,
    stages: STAGED.stages.map((stage) => ({ ...stage, title: HOSTILE })),
  };
  const made = journalOf({ plan, reason: HOSTILE, domains: [HOSTILE, '__proto__'] });
  const page = reportPage({
    ...made,
    ...{ by: HOSTILE, owner: HOSTILE, id: HOSTILE, resumes: HOSTILE },
    verdict: { kind: 'aborted', detail: HOSTILE, resumable: { domain: HOSTILE, stage: 2 } },
  });
  assert.deepEqual(markupFaults(page), []);
  assert.doesNotMatch(page, /<script|<img|\u202e|"\s+onload=/u);
  assert.ok(!page.includes('\u0000'));
  assert.ok(page.includes('&lt;script&gt;alert(1)&lt;/script&gt;'));
});

test('many samples are drawn as fewer points, and the page says so', () => {
  assert.match(textOf(reportPage(journalOf())), /450 samples on \d+ points, 625 ms each/);
  assert.match(textOf(reportPage(journalOf({ end: { atMs: 60_000 } }))), /Every one of 120 samples is drawn/);
});

test('the page of a drill with flapping guards stays small and shows its end', () => {
  const journal = journalOf();
  const then = 'hold';
  const flaps = Array.from({ length: 3000 }, (_, i) => {
    return {
      atMs: 40_000 + i * 30,
      domain: 'goods',
      kind: 'guard',
      figure: 'p99Ms',
      value: 900,
      max: 800,
      then,
    } as const;
  });
  const page = reportPage({ ...journal, marks: [...journal.marks, ...flaps] });
  assert.ok(page.length < 300 * 1024, `${page.length} bytes`);
  assert.match(textOf(page), /◆ Cache restored: The cache has recovered/);
  assert.match(textOf(page), /2,7\d\d marks in the middle are not shown/);
});

test('page and console explain the figures in the same words', () => {
  const journal = journalOf();
  for (const page of [reportPage(journal), onConsole(journal)]) {
    for (const meaning of Object.values(MEANINGS)) assert.ok(page.includes(`title="${meaning}"`), meaning);
  }
});

test('words that only a later version knows are shown as they are', () => {
  const journal = journalOf();
  const later = <Known>(known: Known, field: object): Known => Object.assign({}, known, field);
  const running = { kind: 'running', domain: 'goods', phase: 'rest', stage: 0 };
  assert.match(stateText(later(journal, { state: running })), /^goods: rest, stage 1 of /);
  assert.equal(stateText(later(journal, { state: { kind: 'paused' } })), 'paused');
  assert.equal(drillVerdict(later(journal, { verdict: undefined, state: { kind: 'paused' } })).word, 'paused');
  assert.equal(drillVerdict(later(journal, { verdict: { kind: 'half', detail: '' } })).tone, 'open');
  assert.equal(modeText(later(journal.plan, { mode: 'shrink' })), 'shrink');
  const [mark] = journal.marks;
  assert.ok(mark);
  assert.equal(markOf(later(mark, { kind: 'moved' }), journal.plan).text, 'moved');
  assert.equal(markOf(later(mark, { kind: 'phase', phase: 'rest' }), journal.plan).text, 'rest');
});

test('the page of any valid journal is well-formed and shows no NaN, no infinity and no undefined', () => {
  fc.assert(
    fc.property(anyJournal, (journal) => {
      const page = reportPage(journal);
      assert.deepEqual(markupFaults(page), []);
      const at = page.search(/NaN|Infinity|undefined|null|\[object/);
      assert.equal(at, -1, page.slice(Math.max(0, at - 80), at + 60));
    }),
    { numRuns: 300 },
  );
});

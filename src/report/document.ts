import { createHash } from 'node:crypto';
import { toFile } from './html.ts';
import { AREA_INKS, GROUND, type Ink, LINE_INKS, PAGE_INKS, readableOn, TEXT } from './palette.ts';
import { type Child, h } from './tree.ts';

interface DocumentOptions {
  readonly title: string;
  readonly body: readonly Child[];
  /** Rules in addition to those of all reports. Not escaped, so only constants. */
  readonly style?: string;
}

/** One HTML page without scripts that loads nothing, so that it can be kept, mailed and printed. It is also well-formed XML. */
export function reportDocument({ title, body, style = '' }: DocumentOptions): string {
  const rules = `${themeStyle()}${TEXT_STYLE}${PLOT_STYLE}${style}`;
  const head = h('head')(
    h('meta', { charset: 'utf-8' })(),
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' })(),
    h('meta', { 'http-equiv': 'Content-Security-Policy', content: policyFor(rules) })(),
    h('meta', { name: 'color-scheme', content: 'light dark' })(),
    h('meta', { name: 'referrer', content: 'no-referrer' })(),
    h('title')(title),
    h('link', { rel: 'icon', href: 'data:,' })(),
    h('style')(rules),
  );
  return `<!DOCTYPE html>\n${toFile(h('html', { lang: 'en' })(head, h('body')(body)))}\n`;
}

/** The policy is a second barrier: text that became markup by mistake could load and run nothing. */
function policyFor(style: string): string {
  const hash = createHash('sha256').update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`;
}

/** Style of plots. Lines keep their thickness and their dashes when a plot is stretched. */
export const PLOT_STYLE = `
.plot{margin:1.4rem 0;min-width:0}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr));gap:0 2rem}
.canvas{display:grid;grid-template-columns:62px minmax(0,1fr);margin-top:.4rem}
.values text,.time,.name,.nothing{fill:var(--soft);font-size:12px;font-variant-numeric:tabular-nums}
.values text{text-anchor:end}
.drawing{display:block;overflow:visible}
.defined{position:absolute}
.time{text-anchor:middle}.time.at-start{text-anchor:start}.time.at-end{text-anchor:end}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;margin:.2rem 0 0;padding:0;list-style:none;font-size:.8125rem}
.legend li{display:inline-flex;align-items:center;gap:.4rem}
.swatch{flex:none;overflow:visible}
.grid{stroke:var(--line)}
.base{stroke:var(--soft)}
.band{opacity:.55}
.phase-baseline,.phase-after{fill:var(--calm)}
.phase-stage-even{fill:var(--stage)}
.phase-stage-odd{fill:var(--stage-odd)}
.phase-hold{fill:var(--hold)}
.phase-recovery{fill:var(--recovery)}
.band-name{fill:var(--ink);text-anchor:middle;font-size:11.5px}
.nothing{text-anchor:middle;font-size:14px}
.cursor{stroke:var(--ink)}
.line{fill:none;stroke:var(--own);stroke-width:1.6;stroke-linejoin:round;vector-effect:non-scaling-stroke}
.spread{fill:var(--own);fill-opacity:.24}
.line.flushed{stroke-width:2.4}
.line.control{stroke-width:1.2}
.line.past{stroke-width:1.4;stroke-dasharray:5 4}
.line.control.past{stroke-dasharray:1.5 3}
.line.ceiling{stroke-dasharray:9 4}
.line.limit{stroke-dasharray:2 3}
.line.queued{stroke-dasharray:4 2}
.line.p50{stroke-dasharray:7 3}
.line.guard-limit{--own:var(--line-broken);stroke-dasharray:9 4}
.line.failed{--own:var(--line-broken);stroke-width:2;stroke-dasharray:2 2}
.spread.failed{--own:var(--line-broken)}
.line.hits,.spread.hits{--own:var(--line-recovered)}
.line.open{--own:var(--line-broken);stroke-width:7}
.area{stroke:var(--ground);stroke-width:.6;vector-effect:non-scaling-stroke}
.name{text-anchor:middle;font-weight:600}
.moment line{stroke:var(--own);stroke-width:1.4}
.moment path{fill:var(--own);stroke:var(--ground);stroke-width:1}
.moment.broken path,.moment.noted path{fill:none;stroke:var(--own);stroke-width:2.4}
.moment.noted line{stroke-dasharray:3 3}
.moment.recovered line{stroke-dasharray:1 4}
@media screen and (max-width:51.99rem){.wide-only{display:none}}
@media print{.wide-only{display:none}.drawing,.defined,.swatch{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;

/** Style of everything but the plots: hairlines instead of boxes. */
const TEXT_STYLE = `
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:74rem;margin-inline:auto;padding-inline:clamp(1rem,3vw,2rem)}
header{padding-top:1.4rem}
footer{padding-block:1.2rem 2.5rem;color:var(--soft);font-size:.875rem}
h1{margin:0 0 .9rem;font-size:clamp(1.4rem,1.1rem + 1.4vw,2rem);line-height:1.2;letter-spacing:-.015em}
h1 .soft{font-weight:400}
h2{margin:2.6rem 0 .7rem;padding-top:.9rem;border-top:2px solid var(--ink);font-size:1.3rem;line-height:1.25}
h3{margin:1.9rem 0 .4rem;font-size:1.05rem}
h4{margin:0;font-size:.95rem;line-height:1.35}
p{margin:.5rem 0;max-width:46rem}
.kind{margin:0 0 .2rem;color:var(--soft);font-size:.875rem}
.soft,.note{color:var(--soft)}
.note{font-size:.875rem}
a{color:var(--open)}
code,.moment-text{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.875em}
.verdict{display:flex;align-items:center;gap:.8rem;max-width:none;margin:0 0 1.2rem;padding:.75rem 1rem;border:1px solid var(--tone);border-left-width:.5rem;border-radius:.4rem;background:var(--raised);font-size:1.1rem;line-height:1.4}
.verdict svg{flex:none;fill:none;stroke:var(--tone);stroke-width:3;stroke-linecap:round;stroke-linejoin:round}
.verdict strong{margin-right:.3rem;color:var(--tone);font-size:1.25rem}
.verdict.good{--tone:var(--good)}.verdict.warn{--tone:var(--warn)}.verdict.bad{--tone:var(--bad)}.verdict.open{--tone:var(--open)}
.word{font-weight:600}
.word.good{color:var(--good)}.word.warn{color:var(--warn)}.word.bad{color:var(--bad)}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,17rem),1fr));gap:.5rem 2rem;margin:.6rem 0 1rem}
.facts dt{color:var(--soft);font-size:.8125rem}
.facts dd{margin:0}
.plain{margin:.8rem 0;padding-left:1.2rem}
table{width:100%;margin:1.3rem 0;border-collapse:collapse;font-size:.9375rem;font-variant-numeric:tabular-nums}
caption{padding-bottom:.4rem;text-align:left;font-weight:650}
th,td{padding:.4rem .9rem .4rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th:last-child,td:last-child{padding-right:0}
/* A short word is never broken, an operator's endless one is. */
.cards td{overflow-wrap:break-word}
.cards td.words,td bdi{overflow-wrap:anywhere}
thead th{color:var(--soft);font-size:.8125rem;font-weight:500;vertical-align:bottom;overflow-wrap:normal}
tbody th{font-weight:600}
.number{text-align:right}
td.number{white-space:nowrap}
.frame{overflow-x:auto}
.frame:focus-visible{outline:.16rem solid var(--open);outline-offset:.14rem}
.sideways{min-width:60rem}
.sideways th,.sideways td{white-space:nowrap}
@media screen and (min-width:52rem){.cards tbody th{min-width:13rem}}
@media screen and (max-width:51.99rem){
.cards,.cards caption,.cards tbody,.cards tr,.cards th,.cards td{display:block}
.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.cards tr{padding:.6rem 0;border-bottom:1px solid var(--line)}
.cards th,.cards td{padding:.1rem 0;border:0}
.cards td{display:flex;gap:.8rem;text-align:left;white-space:normal}
.cards td::before{content:attr(data-title);flex:none;width:7.4rem;color:var(--soft);font-size:.875rem}
.cards td.unknown{display:none}
.cards td.words::before{content:none}
.sideways tbody th{position:sticky;left:0;background:var(--ground)}
}
@media print{
body{font-size:10pt;background:#fff}
header,main,footer{max-width:none;padding-inline:0}
h2,h3,h4,caption{break-after:avoid}
tr,figure,.verdict{break-inside:avoid}
.frame{overflow:visible}
table{font-size:9pt}
th,td{padding-right:.5rem}
.sideways{min-width:0;font-size:7pt}
.sideways th,.sideways td{padding-right:.3rem;white-space:normal}
}
`;

/** The colours of reports and their plots. */
export function themeStyle(): string {
  return [onScreenAndPaper(drawnVariables), ...drawnStyle()].join('\n');
}

/** The colours of the search page and the console. */
export function pageStyle(): string {
  return onScreenAndPaper((side) => variables('', { ...TEXT, ...GROUND, ...PAGE_INKS }, side));
}

/** Light, dark if the reader prefers it, and light on paper. */
function onScreenAndPaper(inks: (side: keyof Ink) => string): string {
  return [
    `:root{color-scheme:light dark;${inks('light')}}`,
    `@media (prefers-color-scheme:dark){:root{${inks('dark')}}}`,
    `@media print{:root{color-scheme:light;${inks('light')}}}`,
  ].join('\n');
}

export function drawnStyle(): readonly string[] {
  return [
    ...Object.keys(AREA_INKS).map(
      (name) => `.area.${name}{fill:var(--area-${name})}.name.on-${name}{fill:var(--on-${name})}`,
    ),
    ...Object.keys(LINE_INKS).map((name) => `.${name}{--own:var(--line-${name})}`),
  ];
}

export function drawnVariables(side: keyof Ink): string {
  const on = Object.entries(AREA_INKS).map(([name, ink]) => `--on-${name}:${readableOn(ink[side])};`);
  const own = variables('', { ...TEXT, ...GROUND }, side);
  return `${own}${variables('area-', AREA_INKS, side)}${variables('line-', LINE_INKS, side)}${on.join('')}`;
}

function variables(prefix: string, inks: Readonly<Record<string, Ink>>, side: keyof Ink): string {
  return Object.entries(inks)
    .map(([name, ink]) => `--${prefix}${name}:${ink[side]};`)
    .join('');
}

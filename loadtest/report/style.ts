/** What load reports have beyond other reports: all colours are those of the palette, lines differ in their dashes too. */
export const LOAD_STYLE = `
.step-shown{fill:var(--calm)}
.step-even{fill:var(--calm)}
.step-odd{fill:var(--recovery)}
.step-broke{fill:var(--hold)}
.line.planned{--own:var(--line-ceiling);stroke-dasharray:9 4}
.line.sent,.spread.sent{--own:var(--line-control)}
.line.dropped,.spread.dropped{--own:var(--line-broken);stroke-width:2;stroke-dasharray:2 2}
.line.errors{--own:var(--line-ceiling);stroke-width:2;stroke-dasharray:2 2}
.line.p90{--own:var(--line-noted);stroke-dasharray:3 2}
.line.hits,.spread.hits{--own:var(--line-recovered)}
.line.before{--own:var(--line-ceiling);stroke-dasharray:1.5 3}
.line.nodes,.spread.nodes{--own:var(--line-control)}
.line.store,.spread.store{--own:var(--line-p50);stroke-dasharray:7 3}
.line.service{--own:var(--line-control);stroke-width:2.2}
.line.stores{--own:var(--line-p50);stroke-dasharray:7 3}
.line.generator{--own:var(--line-queued);stroke-dasharray:4 2}
.line.machine{--own:var(--line-ceiling);stroke-dasharray:1.5 3}
.moment.started{--own:var(--line-control)}
.missing{margin:1rem 0}
.sideways td.words{min-width:11rem;white-space:normal}
.sideways thead th{white-space:normal;overflow-wrap:normal;vertical-align:bottom}
.was{display:block;font-size:.8125rem}
.title{font-weight:400}
.reasons{margin-top:0}
@media screen and (max-width:51.99rem){.sideways .was{display:block;font-size:.8125rem}
.title{display:none}}
@media print{.sideways thead th{font-size:7pt}.sideways td.number{white-space:nowrap}.sideways td.words{min-width:0}.sideways .title{display:none}.was{font-size:6.5pt}}
pre.command{margin:.4rem 0;padding:.5rem .7rem;background:var(--raised);border:1px solid var(--line);border-radius:.3rem;white-space:pre-wrap;overflow-wrap:anywhere}
`;

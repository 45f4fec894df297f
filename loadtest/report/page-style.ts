/** The style of report.html. People with poor colour vision can tell its colours apart, on white and on black. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: #fff; --text: #1b1f24; --faint: #59636e; --rule: #d5dae0; --band: #eef1f5; --raised: #f6f8fa;
  --good: #1a7f37; --bad: #c62828;
  --s0: #0b6bcb; --s1: #c2570c; --s2: #6f7d0a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0f1318; --text: #e4e8ed; --faint: #9aa5b1; --rule: #333b45; --band: #1a2029; --raised: #171c23;
    --good: #56d06f; --bad: #ff7b72;
    --s0: #5aa9ff; --s1: #ff9d57; --s2: #c3d04a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 1240px; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 2.5rem 0 .75rem; font-size: 1.2rem; }
h3 { margin: 0 0 .25rem; font-size: 1rem; }
.faint, caption, figcaption { color: var(--faint); }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--rule); text-align: right; vertical-align: baseline; }
th { font-weight: 600; }
th:first-child, td:first-child, .budgets th:last-child, .budgets td:last-child, dl { text-align: left; }
td:not(:first-child) { white-space: nowrap; }
.budgets td:last-child { white-space: normal; }
.plot { margin: 0 0 1rem; }
.runs { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem 1.5rem; }
figure { margin: 0; min-width: 0; max-width: 46rem; }
figcaption { display: flex; flex-wrap: wrap; gap: 0 1rem; font-size: .9rem; }
figcaption b { color: var(--text); }
.key::before { content: ""; display: inline-block; width: 1.1em; height: 3px; margin-right: .4em; vertical-align: middle; background: currentColor; }
.key-0 { color: var(--s0); } .key-1 { color: var(--s1); } .key-2 { color: var(--s2); }
.value { min-height: 1.5em; font-size: .85rem; color: var(--faint); font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: auto; touch-action: pan-y; }
svg text { font: 12px system-ui, sans-serif; fill: var(--faint); }
svg .phase { fill: var(--text); }
.band-0 { fill: none; } .band-1 { fill: var(--band); }
.edge { stroke: var(--rule); stroke-dasharray: 3 3; }
.grid { stroke: var(--rule); stroke-width: .7; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.series-0 { stroke: var(--s0); } .series-1 { stroke: var(--s1); } .series-2 { stroke: var(--s2); }
.cursor { stroke: var(--faint); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.25rem; margin: 0; }
dt { font-weight: 600; } dd { margin: 0; }
code { font-size: .9em; padding: .1em .35em; border-radius: 4px; background: var(--raised); }
@media (max-width: 600px) {
  svg text { font-size: 16px; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .6rem; }
  td, th { padding-right: .7rem; } table { font-size: .85rem; }
  td:first-child { min-width: 7.5rem; } .budgets td:last-child { min-width: 6rem; }
}
`;
